// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

/** Another process, or another broker of this one, has the store open. */
public final class StoreInUseException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    StoreInUseException(String message) {
        super(message);
    }
}
