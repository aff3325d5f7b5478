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
import org.jspecify.annotations.Nullable;

/**
 * Publishes a topic of bridges at this broker, retained: whether one is connected, as mosquitto does it, {@code 1} or {@code 0}; or the identifier
 * of this broker. Below {@code $SYS/} it is a topic of the node, retained in memory; another topic is stored and replicated as those of clients are.
 */
@AnyThread
final class StateTopic {

    static final byte[] CONNECTED = {'1'};
    static final byte[] DISCONNECTED = {'0'};

    private static final String OF_NODE = "$SYS/";

    private final BrokerModule.Core core;
    private final String topic;
    private final @Nullable String publisher;
    private final RoutingLoop loop;

    /** Owned by the event loop. */
    private final Matches matches = new Matches();

    /**
     * Creates a topic.
     *
     * @param publisher the client identifier whose subscriptions with No Local do not get it; null for the broker itself
     */
    StateTopic(BrokerModule.Core core, String topic, @Nullable String publisher) {
        this.core = core;
        this.topic = topic;
        this.publisher = publisher;
        this.loop = core.router().loops().get(0);
    }

    /** Whether each node of a cluster has a topic for itself. */
    static boolean isOfNode(String topic) {
        return topic.startsWith(OF_NODE);
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
                .accepted(loop.nextMessageId(), core.ticker().nanoTime(), publisher);
        if (isOfNode(topic)) {
            core.router().retained().store(message);
        } else {
            core.sessions().retained().retain(loop, message, RouteTicket.NONE);
        }
        core.router().index().match(message.topic(), matches);
        boolean awaited = !matches.isEmpty();
        matches.clear();
        if (awaited) { // otherwise it would be counted as a message without a subscriber
            core.router().route(loop, message, RouteTicket.NONE);
        }
    }
}
