// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import java.io.Serial;

/**
 * The broker is not running: {@link Broker#close} has ended it, or is about to. Methods of a closed {@link Broker} signal it
 * by the {@code Mono} or {@code Flux} that they return, or throw it.
 */
public final class BrokerClosedException extends IllegalStateException {

    @Serial
    private static final long serialVersionUID = 1;

    /** Creates an exception for a broker that has been closed. */
    public BrokerClosedException() {
        super("the broker is closed");
    }

    /**
     * Creates an exception for a broker that is not running.
     *
     * @param message why it is not running
     */
    public BrokerClosedException(String message) {
        super(message);
    }
}
