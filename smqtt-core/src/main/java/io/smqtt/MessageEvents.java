// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.Matches;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.LifecycleObserver;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import io.smqtt.trace.TraceEvent;
import io.smqtt.trace.TraceEvent.Kind;
import io.smqtt.trace.TraceSubject;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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
    private static final int LOOK_SECONDS = 1;
    private static final int PAYLOAD_BYTES = 4_096;

    /** Events that may wait for the event loop; further ones are left out. */
    private static final int MAX_WAITING = 10_000;

    private final AtomicInteger waiting = new AtomicInteger();
    private volatile @Nullable BrokerParts core;
    private volatile Set<Event> wanted = Set.of();

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
        execute(parts, () -> look(parts));
        loop(parts).executor().scheduleWithFixedDelay(() -> look(parts), LOOK_SECONDS, LOOK_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void stop() {
        core = null;
    }

    /** Looks at once whether somebody listens; later changes, and subscribers of other nodes, are noticed within a second. */
    @Override
    @AnyThread
    public void subscribed(String clientId, String filter, boolean isNew) {
        BrokerParts running = core;
        if (running != null && isNew && (filter.startsWith("$events/") || filter.startsWith("$share/"))) {
            execute(running, () -> look(running));
        }
    }

    private static RoutingLoop loop(BrokerParts running) {
        return running.router().loops().get(0);
    }

    private static boolean execute(BrokerParts running, Runnable task) {
        try {
            loop(running).executor().execute(task);
            return true;
        } catch (RejectedExecutionException e) {
            return false; // the broker has stopped
        }
    }

    /** Starts the trace with the first subscriber, and ends it without one. */
    private void look(BrokerParts running) {
        Matches matches = new Matches();
        Set<Event> awaited = EnumSet.noneOf(Event.class);
        for (Event event : Event.values()) {
            if (isAwaited(running, event.topic, matches)) {
                awaited.add(event);
            }
        }
        wanted = Set.copyOf(awaited);
        boolean isWanted = core != null && !awaited.isEmpty();
        Disposable present = trace;
        if (!isWanted && present != null) {
            trace = null;
            present.dispose();
        } else if (isWanted && present == null && !isStarting) {
            isStarting = true;
            running.traces()
                    .start(ALL_MESSAGES, PAYLOAD_BYTES, event -> traced(running, event))
                    .subscribe(
                            begun -> execute(running, () -> {
                                isStarting = false;
                                trace = begun;
                            }),
                            error -> LOG.debug("the broker has stopped", error));
        }
    }

    private static boolean isAwaited(BrokerParts running, TopicName topic, Matches matches) {
        running.router().index().match(topic, matches);
        boolean found = matches.size() + matches.sharedSize() > 0;
        matches.clear();
        return found;
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
        if (!wanted.contains(kind)) {
            return;
        }
        if (waiting.incrementAndGet() > MAX_WAITING) {
            waiting.decrementAndGet();
            running.observer().eventLeftOut();
            return;
        }
        boolean accepted = execute(running, () -> {
            waiting.decrementAndGet();
            RoutingLoop loop = loop(running);
            ApplicationMessage message = ApplicationMessage.builder(kind.topic.value())
                    .payload(payload(kind.text, event, reason))
                    .build()
                    .accepted(loop.nextMessageId(), running.ticker().nanoTime(), null);
            running.router().route(loop, message, RouteTicket.NONE);
        });
        if (!accepted) {
            waiting.decrementAndGet();
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
