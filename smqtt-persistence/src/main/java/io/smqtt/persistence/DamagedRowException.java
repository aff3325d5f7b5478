// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

/** A row cannot be understood, although the database vouches for its bytes. */
final class DamagedRowException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    DamagedRowException(String message) {
        super(message);
    }
}
