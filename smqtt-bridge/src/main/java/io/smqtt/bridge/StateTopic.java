// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.BrokerModule;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.Matches;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;

/**
 * Publishes a topic of bridges below {@code $SYS/broker} at this broker, retained in memory: whether one is connected, as mosquitto does
 * it, {@code 1} or {@code 0}; or the identifier of this broker.
 */
@AnyThread
final class StateTopic {

    static final byte[] CONNECTED = {'1'};
    static final byte[] DISCONNECTED = {'0'};

    private final BrokerModule.Core core;
    private final String topic;
    private final RoutingLoop loop;

    /** Owned by the event loop. */
    private final Matches matches = new Matches();

    StateTopic(BrokerModule.Core core, String topic) {
        this.core = core;
        this.topic = topic;
        this.loop = core.router().loops().get(0);
    }

    /** The topic of the state of a bridge, at both brokers. */
    static String name(String clientId) {
        return "$SYS/broker/connection/" + clientId + "/state";
    }

    void publish(String value) {
        if (!loop.executor().isShuttingDown()) {
            loop.executor().execute(() -> write(value));
        }
    }

    @OnEventLoop
    private void write(String value) {
        ApplicationMessage message = ApplicationMessage.builder(topic)
                .payload(value)
                .qos(QoS.AT_LEAST_ONCE)
                .retain(true)
                .build()
                .accepted(loop.nextMessageId(), core.ticker().nanoTime(), null);
        core.router().retained().store(message);
        core.router().index().match(message.topic(), matches);
        boolean awaited = !matches.isEmpty();
        matches.clear();
        if (awaited) { // otherwise it would be counted as a message without a subscriber
            core.router().route(loop, message, RouteTicket.NONE);
        }
    }
}
