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
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;

/**
 * Publishes what happens to messages: {@code $events/message/delivered} and {@code $events/message/dropped}. A trace of all topics reports it, which runs
 * only while one of the two has a subscriber. Topics that begin with {@code $} are left out, so that an event causes no other event.
 */
final class MessageEvents implements CoreFeature, LifecycleObserver {

    private static final Logger LOG = LoggerFactory.getLogger(MessageEvents.class);
    private static final String PREFIX = "$events/message/";
    private static final TopicName DELIVERED = TopicName.of(PREFIX + "delivered");
    private static final TopicName DROPPED = TopicName.of(PREFIX + "dropped");
    private static final TraceSubject ALL_MESSAGES = new TraceSubject.OfTopic(TopicFilter.of("#"));
    private static final int LOOK_SECONDS = 1;
    private static final int PAYLOAD_BYTES = 4_096;

    /** Events that may wait for the event loop; further ones are left out. */
    private static final int MAX_WAITING = 10_000;

    private final AtomicInteger waiting = new AtomicInteger();
    private volatile @Nullable BrokerParts core;
    private volatile boolean delivered;
    private volatile boolean dropped;

    // of the first event loop
    private @Nullable Disposable trace;
    private boolean isStarting;

    @Override
    public void start(BrokerParts parts, @Nullable Supplier<ClusterStatus> cluster) {
        core = parts;
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
        delivered = isAwaited(running, DELIVERED, matches);
        dropped = isAwaited(running, DROPPED, matches);
        boolean wanted = core != null && (delivered || dropped);
        Disposable present = trace;
        if (!wanted && present != null) {
            trace = null;
            present.dispose();
        } else if (wanted && present == null && !isStarting) {
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
        if (event.kind() == Kind.PUBLISH_SENT && delivered) {
            publish(running, DELIVERED, "message.delivered", event, null);
        } else if (event.kind() == Kind.DROPPED && dropped) {
            publish(
                    running,
                    DROPPED,
                    "message.dropped",
                    event,
                    String.valueOf(event.details().get("reason")));
        } else if (event.kind() == Kind.ROUTED && dropped && hasNoSubscriber(event.details())) {
            publish(running, DROPPED, "message.dropped", event, "no_subscribers");
        }
    }

    private static boolean hasNoSubscriber(Map<String, Object> details) {
        return details.get("matches") instanceof Number matches && matches.intValue() == 0;
    }

    private void publish(BrokerParts running, TopicName topic, String name, TraceEvent event, @Nullable String reason) {
        if (waiting.incrementAndGet() > MAX_WAITING) {
            waiting.decrementAndGet();
            running.observer().eventLeftOut();
            return;
        }
        boolean accepted = execute(running, () -> {
            waiting.decrementAndGet();
            RoutingLoop loop = loop(running);
            ApplicationMessage message = ApplicationMessage.builder(topic.value())
                    .payload(payload(name, event, reason))
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
