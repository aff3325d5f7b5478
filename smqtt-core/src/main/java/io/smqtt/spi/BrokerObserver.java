// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import java.util.List;

/** Observes all events of the broker. To observe a part of them, implement that interface only; it costs less. */
public interface BrokerObserver extends LifecycleObserver, MessageObserver, StoreObserver {

    /** Observes nothing. */
    BrokerObserver NONE = new BrokerObserver() {};

    /**
     * Several observers as one.
     *
     * @param observers called in this order
     * @return the only one, if there is one and it observes everything
     */
    static BrokerObserver of(List<? extends Observer> observers) {
        if (observers.isEmpty()) {
            return NONE;
        }
        return observers.size() == 1 && observers.get(0) instanceof BrokerObserver only
                ? only
                : new ObserverChain(observers);
    }
}
