// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.routing.Matches;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicName;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Watches which topics of events have subscribers, so that other events cost nothing: looked up every second, and at once when a client of this node
 * subscribes to events.
 */
@AnyThread
final class AwaitedTopics {

    private static final int LOOK_SECONDS = 1;

    private final List<TopicName> topics;
    private final Consumer<Set<TopicName>> listener;
    private final Matches matches = new Matches(); // of the event loop of EventOutlet
    private volatile @Nullable BrokerParts core;

    /**
     * Creates a watch that has not started.
     *
     * @param topics the topics
     * @param listener gets those with subscribers after each look, on the event loop of {@link EventOutlet}; none after the stop
     */
    AwaitedTopics(List<TopicName> topics, Consumer<Set<TopicName>> listener) {
        this.topics = topics;
        this.listener = listener;
    }

    void start(BrokerParts parts) {
        core = parts;
        EventOutlet.execute(parts, this::look);
        EventOutlet.loop(parts)
                .executor()
                .scheduleWithFixedDelay(this::look, LOOK_SECONDS, LOOK_SECONDS, TimeUnit.SECONDS);
    }

    void stop() {
        core = null;
    }

    /** Notes a subscription of a client of this node; later changes, and subscribers of other nodes, are noticed within a second. */
    void subscribed(String filter, boolean isNew) {
        BrokerParts running = core;
        if (running != null && isNew && (filter.startsWith("$events/") || filter.startsWith("$share/"))) {
            EventOutlet.execute(running, this::look);
        }
    }

    private void look() {
        BrokerParts running = core;
        Set<TopicName> awaited = new HashSet<>();
        if (running != null) {
            for (TopicName topic : topics) {
                if (EventOutlet.isAwaited(running, topic, matches)) {
                    awaited.add(topic);
                }
            }
        }
        listener.accept(Set.copyOf(awaited));
    }
}
