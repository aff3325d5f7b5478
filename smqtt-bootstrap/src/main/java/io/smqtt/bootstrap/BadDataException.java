// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

/** Stored or exported data is not there, or not what it should be; the message says which and why. */
final class BadDataException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    BadDataException(String message) {
        super(message);
    }
}
