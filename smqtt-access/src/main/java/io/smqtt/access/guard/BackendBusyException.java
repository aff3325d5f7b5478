// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.guard;

/** A request was not made. Has no stack trace, since many are made while a backend is down. */
public final class BackendBusyException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final boolean down;

    /**
     * Creates the exception.
     *
     * @param message which backend, and why
     * @param down whether the backend fails
     */
    public BackendBusyException(String message, boolean down) {
        super(message, null, false, false);
        this.down = down;
    }

    /**
     * Why the request was not made.
     *
     * @return true if the backend fails, false if too many requests wait
     */
    public boolean isDown() {
        return down;
    }
}
