// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import java.io.Serial;

/**
 * The broker does not run: {@link Broker#close} has ended it, or is about to. What every method of a closed {@link Broker} fails
 * with, by the signal of the {@code Mono} or {@code Flux} that it returns, or else by throwing it.
 */
public final class BrokerClosedException extends IllegalStateException {

    @Serial
    private static final long serialVersionUID = 1;

    /** Creates an exception for a broker that has been closed. */
    public BrokerClosedException() {
        super("the broker is closed");
    }

    /**
     * Creates an exception for a broker that does not run.
     *
     * @param message why it does not
     */
    public BrokerClosedException(String message) {
        super(message);
    }
}
