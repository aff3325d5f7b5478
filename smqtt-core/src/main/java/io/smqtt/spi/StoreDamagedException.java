// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/** Stored data cannot be read. The message has the file and the remedy. */
public final class StoreDamagedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message the file, its damage, and the remedy
     * @param cause the error of the library, or null
     */
    public StoreDamagedException(String message, @org.jspecify.annotations.Nullable Throwable cause) {
        super(message, cause);
    }
}
