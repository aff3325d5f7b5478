// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import java.net.InetSocketAddress;

/** Says that a listener could not be bound to its address, as a rule because another process has it. */
public final class BindFailedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param listener the name of the listener
     * @param address what it should have been bound to
     * @param cause why that failed
     */
    public BindFailedException(String listener, InetSocketAddress address, Throwable cause) {
        super("listener " + listener + " cannot be bound to " + address + ": " + cause.getMessage(), cause);
    }
}
