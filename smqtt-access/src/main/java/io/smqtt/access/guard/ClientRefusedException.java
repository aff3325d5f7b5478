// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.guard;

/**
 * A backend works, but has no answer about one client because of what that client has sent. The client is refused, whatever
 * {@code on-failure} says. It is no failure of the backend, or one client could have it taken out of use for all. Has no stack trace.
 */
public final class ClientRefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message the reason, which can be logged: without values of the client
     */
    public ClientRefusedException(String message) {
        super(message, null, false, false);
    }
}
