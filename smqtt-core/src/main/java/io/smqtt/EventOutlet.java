// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.Matches;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicName;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Publishes messages about events at QoS 0, all on one event loop, so that they keep their order. A limited number waits for that event loop; further ones
 * are left out and counted.
 */
@AnyThread
final class EventOutlet {

    private static final int MAX_WAITING = 10_000;

    private final AtomicInteger waiting = new AtomicInteger();

    /** The event loop on which events are published. */
    static RoutingLoop loop(BrokerParts running) {
        return running.router().loops().get(0);
    }

    /** Runs a task on that event loop; false if the broker has stopped. */
    static boolean execute(BrokerParts running, Runnable task) {
        try {
            loop(running).executor().execute(task);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    /** Whether a topic has a subscriber, on any node. */
    static boolean isAwaited(BrokerParts running, TopicName topic, Matches matches) {
        running.router().index().match(topic, matches);
        boolean found = matches.size() + matches.sharedSize() > 0;
        matches.clear();
        return found;
    }

    /**
     * Publishes a message.
     *
     * @param payload makes the payload, on the event loop; not called for a message that is left out
     */
    void publish(BrokerParts running, TopicName topic, Supplier<String> payload) {
        if (waiting.incrementAndGet() > MAX_WAITING) {
            waiting.decrementAndGet();
            running.observer().eventLeftOut();
            return;
        }
        boolean accepted = execute(running, () -> {
            waiting.decrementAndGet();
            RoutingLoop loop = loop(running);
            ApplicationMessage message = ApplicationMessage.builder(topic.value())
                    .payload(payload.get())
                    .build()
                    .accepted(loop.nextMessageId(), running.ticker().nanoTime(), null);
            running.router().route(loop, message, RouteTicket.NONE);
        });
        if (!accepted) {
            waiting.decrementAndGet();
        }
    }
}
