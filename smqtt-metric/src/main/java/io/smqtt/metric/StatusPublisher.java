// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.BrokerModule;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.Matches;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.Map;

/**
 * Publishes topics below $SYS/broker. The messages are retained in memory only, with any store: after a restart they would be wrong.
 */
@AnyThread
final class StatusPublisher {

    private static final String ROOT = "$SYS/broker/";

    private final BrokerModule.Core core;
    private final RoutingLoop loop;

    /** Owned by the event loop. */
    private final Matches matches = new Matches();

    StatusPublisher(BrokerModule.Core core) {
        this.core = core;
        loop = core.router().loops().get(0);
    }

    /**
     * Publishes texts.
     *
     * @param values by the name of the topic below the root
     */
    void publish(Map<String, String> values) {
        if (!values.isEmpty() && !loop.executor().isShuttingDown()) {
            loop.executor().execute(() -> values.forEach(this::write));
        }
    }

    /** Publishes one text. */
    void publish(String name, String text) {
        publish(Map.of(name, text));
    }

    /** Removes a retained message. */
    void remove(String name) {
        publish(name, "");
    }

    @OnEventLoop
    private void write(String name, String text) {
        Router router = core.router();
        ApplicationMessage message = ApplicationMessage.builder(ROOT + name)
                .payload(text)
                .qos(QoS.EXACTLY_ONCE)
                .retain(true)
                .build()
                .accepted(loop.nextMessageId(), core.ticker().nanoTime(), null);
        router.retained().store(message);
        router.index().match(message.topic(), matches);
        boolean awaited = !matches.isEmpty();
        matches.clear();
        if (awaited) { // otherwise it would be counted as a message without a subscriber
            router.route(loop, message, RouteTicket.NONE);
        }
    }
}
