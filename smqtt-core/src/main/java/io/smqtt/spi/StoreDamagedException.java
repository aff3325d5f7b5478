// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/** Stored data cannot be read. The message names the file and says what to do. */
public final class StoreDamagedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message the file, what is wrong with it, and what to do
     * @param cause what the library said, or null
     */
    public StoreDamagedException(String message, @org.jspecify.annotations.Nullable Throwable cause) {
        super(message, cause);
    }
}
