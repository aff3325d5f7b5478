// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

/** A listener could not be bound, for instance because its port is in use. */
public final class BindFailedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String listener;
    private final String address;

    /**
     * Creates the exception.
     *
     * @param listener the listener's name
     * @param address where it was to be bound
     * @param cause what the operating system said
     */
    public BindFailedException(String listener, String address, Throwable cause) {
        super("listener " + listener + " cannot be bound to " + address + ": " + reason(cause), cause);
        this.listener = listener;
        this.address = address;
    }

    /**
     * The listener.
     *
     * @return its name in the configuration
     */
    public String listener() {
        return listener;
    }

    /**
     * Where it should have been bound.
     *
     * @return host and port, as configured
     */
    public String address() {
        return address;
    }

    private static String reason(Throwable cause) {
        String message = cause.getMessage();
        return message == null ? cause.getClass().getSimpleName() : message;
    }
}
