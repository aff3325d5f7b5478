// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.config.BrokerConfig;
import reactor.core.publisher.Mono;

/** PLACEHOLDER, to be replaced by the real one. */
public final class BrokerBuilder {
    private BrokerConfig config = BrokerConfig.defaults();

    BrokerBuilder() {}

    /** {@return this} */
    public BrokerBuilder config(BrokerConfig value) {
        config = value;
        return this;
    }

    /** {@return the broker, bound} */
    public Mono<Broker> start() {
        return Mono.fromCallable(() -> new Broker(config));
    }
}
