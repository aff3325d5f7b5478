// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.LifecycleObserver;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import io.smqtt.trace.TraceEvent;
import io.smqtt.trace.TraceEvent.Kind;
import io.smqtt.trace.TraceSubject;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;

/**
 * Publishes what happens to messages: the topics {@code $events/message/…}. A trace of all topics reports it, which runs only while one of them has a
 * subscriber. Topics that begin with {@code $} are left out, so that an event causes no other event.
 */
final class MessageEvents implements CoreFeature, LifecycleObserver {

    private static final Logger LOG = LoggerFactory.getLogger(MessageEvents.class);
    private static final TraceSubject ALL_MESSAGES = new TraceSubject.OfTopic(TopicFilter.of("#"));
    private static final int PAYLOAD_BYTES = 4_096;

    private final EventOutlet outlet = new EventOutlet();
    private final AwaitedTopics topics = new AwaitedTopics(
            Arrays.stream(Event.values()).map(event -> event.topic).toList(), this::await);
    private volatile @Nullable BrokerParts core;
    private volatile Set<TopicName> wanted = Set.of();

    // of the first event loop
    private @Nullable Disposable trace;
    private boolean isStarting;

    /** The events, with their names in payloads. */
    private enum Event {
        /** A PUBLISH was sent. */
        DELIVERED("message.delivered", "delivered"),
        /** A subscriber has acknowledged a message: by PUBACK, at QoS 2 by PUBREC. */
        ACKED("message.acked", "acked"),
        /** A message has no subscriber, or does not reach one. */
        DROPPED("message.dropped", "dropped"),
        /** A message does not reach a subscriber. */
        DELIVERY_DROPPED("delivery.dropped", "delivery_dropped");

        private final String text;
        private final TopicName topic;

        Event(String text, String level) {
            this.text = text;
            this.topic = TopicName.of("$events/message/" + level);
        }
    }

    @Override
    public void start(BrokerParts parts, @Nullable Supplier<ClusterStatus> cluster) {
        core = parts;
        topics.start(parts);
    }

    @Override
    public void stop() {
        topics.stop();
    }

    @Override
    @AnyThread
    public void subscribed(String clientId, String filter, boolean isNew) {
        topics.subscribed(filter, isNew);
    }

    /** Starts the trace with the first subscriber, and ends it without one. */
    private void await(Set<TopicName> awaited) {
        BrokerParts running = core;
        wanted = awaited;
        Disposable present = trace;
        if (awaited.isEmpty() && present != null) {
            trace = null;
            present.dispose();
        } else if (running != null && !awaited.isEmpty() && present == null && !isStarting) {
            isStarting = true;
            running.traces()
                    .start(ALL_MESSAGES, PAYLOAD_BYTES, event -> traced(running, event))
                    .subscribe(
                            begun -> EventOutlet.execute(running, () -> {
                                isStarting = false;
                                trace = begun;
                            }),
                            error -> LOG.debug("the broker has stopped", error));
        }
    }

    private void traced(BrokerParts running, TraceEvent event) {
        if (event.topic() == null) {
            return;
        }
        Map<String, Object> details = event.details();
        switch (event.kind()) {
            case PUBLISH_SENT -> publish(running, Event.DELIVERED, event, null);
            case ACKNOWLEDGED -> publish(running, Event.ACKED, event, null);
            case DROPPED -> {
                String reason = String.valueOf(details.get("reason"));
                publish(running, Event.DROPPED, event, reason);
                publish(running, Event.DELIVERY_DROPPED, event, reason);
            }
            case ROUTED -> {
                if (hasNoSubscriber(details)) {
                    publish(running, Event.DROPPED, event, "no_subscribers");
                }
            }
            default -> { // no event
            }
        }
    }

    private static boolean hasNoSubscriber(Map<String, Object> details) {
        return details.get("matches") instanceof Number matches && matches.intValue() == 0;
    }

    private void publish(BrokerParts running, Event kind, TraceEvent event, @Nullable String reason) {
        if (wanted.contains(kind.topic)) {
            outlet.publish(running, kind.topic, () -> payload(kind.text, event, reason));
        }
    }

    private static String payload(String name, TraceEvent event, @Nullable String reason) {
        Map<String, Object> details = event.details();
        boolean isOfPublisher = event.kind() == Kind.ROUTED;
        JsonText json = new JsonText()
                .put("event", name)
                .put("topic", String.valueOf(event.topic()))
                .put("qos", details.get("qos") instanceof Number qos ? qos.longValue() : 0)
                .put("from_clientid", isOfPublisher ? event.clientId() : text(details.get("publisher")))
                .put("payload", new String(event.payload(), StandardCharsets.UTF_8))
                .put("payload_size", event.payloadSize())
                .put("timestamp", event.timeMillis());
        if (!isOfPublisher) {
            json.put("clientid", event.clientId()).put("username", event.userName());
        }
        if (reason != null) {
            json.put("reason", reason);
        }
        return json.toString();
    }

    private static @Nullable String text(@Nullable Object value) {
        return value == null ? null : value.toString();
    }
}
