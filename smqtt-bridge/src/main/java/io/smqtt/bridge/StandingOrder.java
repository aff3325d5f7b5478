// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.BrokerModule;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicName;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The last order of an operator for a bridge that one of several nodes connects: to connect it or not. All nodes follow it, whichever got
 * it, and nodes that come later, too. It is a hidden retained message, so it is replicated and stored as those are.
 */
@AnyThread
final class StandingOrder {

    private static final String ROOT = "$smqtt/bridge/";
    private static final String CONNECT = "connect";
    private static final String STOP = "stop";

    private final BrokerModule.Core core;
    private final TopicName topic;
    private @Nullable ApplicationMessage followed; // guarded by this

    StandingOrder(BrokerModule.Core core, String bridge) {
        this.core = core;
        this.topic = TopicName.of(ROOT + URLEncoder.encode(bridge, StandardCharsets.UTF_8));
    }

    /** Gives an order to all nodes. Nothing is given while the broker stops. */
    void give(boolean connect) {
        RoutingLoop loop = core.router().loops().get(0);
        ApplicationMessage message = ApplicationMessage.builder(topic.value())
                .payload(connect ? CONNECT : STOP)
                .retain(true)
                .build();
        try {
            loop.executor()
                    .execute(() -> core.sessions()
                            .retained()
                            .keep(
                                    loop,
                                    message.accepted(
                                            loop.nextMessageId(), core.ticker().nanoTime(), null),
                                    RouteTicket.NONE));
        } catch (RejectedExecutionException e) {
            // the broker stops
        }
    }

    /**
     * The order that has not been taken yet.
     *
     * @return whether to connect; null if there is no new order
     */
    synchronized @Nullable Boolean take() {
        ApplicationMessage now = core.router().retained().get(topic);
        if (now == null || now == followed) {
            return null;
        }
        followed = now;
        return !STOP.equals(new String(now.payload().toByteArray(), StandardCharsets.UTF_8));
    }
}
