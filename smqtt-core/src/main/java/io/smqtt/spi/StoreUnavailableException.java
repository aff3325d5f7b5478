// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/** A store cannot be opened now, for lack of other nodes. Its data is not in question, and a later start may succeed. */
public final class StoreUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message the reason, to be shown as it is
     * @param cause the error of a library, or null
     */
    public StoreUnavailableException(String message, @org.jspecify.annotations.Nullable Throwable cause) {
        super(message, cause);
    }
}
