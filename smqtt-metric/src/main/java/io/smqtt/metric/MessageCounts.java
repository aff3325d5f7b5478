// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.DeliverySource;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.Elsewhere;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Meters of messages. The registry reads; the message path only adds. */
@AnyThread
final class MessageCounts {

    private static final int LEVELS = QoS.values().length;
    private static final int DROPS = DropReason.values().length;
    private static final int SOURCES = DeliverySource.values().length;
    private static final int ELSEWHERES = Elsewhere.values().length;
    private static final int CODES = ReasonCode.values().length;

    private static final int RECEIVED = 0;
    private static final int RECEIVED_BYTES = RECEIVED + LEVELS;
    private static final int PUBLISH_MATCHES = RECEIVED_BYTES + 1;
    private static final int UNMATCHED = PUBLISH_MATCHES + 1;
    private static final int ADDED = UNMATCHED + 1;
    private static final int DELIVERED = ADDED + SOURCES;
    private static final int DELIVERED_BYTES = DELIVERED + LEVELS;
    private static final int QUEUED = DELIVERED_BYTES + 1;
    private static final int DROPPED = QUEUED + LEVELS;
    private static final int ABANDONED = DROPPED + DROPS;
    private static final int REFUSED = ABANDONED + DROPS;
    private static final int RETAINED_REFUSED = REFUSED + CODES;
    private static final int ELSEWHERE = RETAINED_REFUSED + 1;
    private static final int SIZE = ELSEWHERE + ELSEWHERES;

    /** Reason codes of refused messages; others are counted as other. */
    private static final List<ReasonCode> REFUSALS = List.of(
            ReasonCode.NOT_AUTHORIZED,
            ReasonCode.QUOTA_EXCEEDED,
            ReasonCode.PAYLOAD_FORMAT_INVALID,
            ReasonCode.TOPIC_NAME_INVALID,
            ReasonCode.MESSAGE_RATE_TOO_HIGH,
            ReasonCode.IMPLEMENTATION_SPECIFIC_ERROR,
            ReasonCode.UNSPECIFIED_ERROR);

    /** Bounds of the buckets, in microseconds. */
    private static final long[] ROUTE_MICROS = {1, 5, 20, 100, 500, 2_000, 10_000, 100_000};

    private static final long[] DELIVERY_MICROS = {
        20,
        50,
        100,
        250,
        500,
        1_000,
        2_500,
        5_000,
        10_000,
        25_000,
        50_000,
        100_000,
        250_000,
        1_000_000,
        10_000_000,
        60_000_000
    };

    private final LoopCounters counters = new LoopCounters(SIZE);
    private final Timer route;
    private final Timer queue;
    private final Timer delivery;

    MessageCounts(MeterRegistry registry) {
        route = timer("smqtt.route.time", ROUTE_MICROS)
                .description("time to route a message to its subscribers; sampled, one in 1,024 messages")
                .register(registry);
        queue = timer("smqtt.queue.time", DELIVERY_MICROS)
                .description(
                        "time from accepting a message to taking it out of a session's queue; sampled, one in 1,024 "
                                + "messages")
                .register(registry);
        delivery = timer("smqtt.delivery.time", DELIVERY_MICROS)
                .description(
                        "time from accepting a message to writing it to a subscriber, queues included; sampled, one in 1,024 messages")
                .register(registry);
        bindTo(registry);
    }

    private static Timer.Builder timer(String name, long[] boundsMicros) {
        Duration[] bounds = new Duration[boundsMicros.length];
        for (int i = 0; i < bounds.length; i++) {
            bounds[i] = Duration.ofNanos(boundsMicros[i] * 1_000);
        }
        return Timer.builder(name).serviceLevelObjectives(bounds);
    }

    void routed(long nanos) {
        route.record(nanos, TimeUnit.NANOSECONDS);
    }

    void queueTimed(long nanos) {
        queue.record(nanos, TimeUnit.NANOSECONDS);
    }

    void deliveryTimed(long nanos) {
        delivery.record(nanos, TimeUnit.NANOSECONDS);
    }

    void received(QoS qos, int payloadBytes, int matches) {
        counters.add(RECEIVED + qos.ordinal(), 1, RECEIVED_BYTES, payloadBytes);
        counters.add(matches == 0 ? UNMATCHED : PUBLISH_MATCHES, matches == 0 ? 1 : matches);
    }

    void refused(ReasonCode reason) {
        counters.add(REFUSED + reason.ordinal(), 1);
    }

    void added(DeliverySource source, int count) {
        counters.add(ADDED + source.ordinal(), count);
    }

    void elsewhere(Elsewhere reason, int count) {
        counters.add(ELSEWHERE + reason.ordinal(), count);
    }

    /** Messages that waited for sessions when the broker started. */
    void recovered(long count) {
        counters.add(ADDED + DeliverySource.RECOVERED.ordinal(), count);
    }

    void delivered(QoS qos, int payloadBytes) {
        counters.add(DELIVERED + qos.ordinal(), 1, DELIVERED_BYTES, payloadBytes);
    }

    void queued(QoS qos) {
        counters.add(QUEUED + qos.ordinal(), 1);
    }

    void dropped(DropReason reason, int count) {
        counters.add(DROPPED + reason.ordinal(), count);
    }

    void abandoned(DropReason reason, int count) {
        counters.add(ABANDONED + reason.ordinal(), count);
    }

    void retainedRefused() {
        counters.add(RETAINED_REFUSED, 1);
    }

    long received() {
        return counters.sum(RECEIVED, LEVELS);
    }

    long receivedBytes() {
        return counters.sum(RECEIVED_BYTES);
    }

    long delivered() {
        return counters.sum(DELIVERED, LEVELS);
    }

    long deliveredBytes() {
        return counters.sum(DELIVERED_BYTES);
    }

    long dropped() {
        return counters.sum(DROPPED, DROPS);
    }

    Map<DropReason, Long> droppedByReason() {
        Map<DropReason, Long> counts = new EnumMap<>(DropReason.class);
        for (DropReason reason : DropReason.values()) {
            counts.put(reason, counters.sum(DROPPED + reason.ordinal()));
        }
        return counts;
    }

    /** Deliveries that have begun. */
    long matched() {
        return counters.sum(PUBLISH_MATCHES) + counters.sum(ADDED, SOURCES);
    }

    /** Deliveries that have begun and not ended: they wait in queues, or are in flight between event loops. */
    long pending() {
        // read first, so that deliveries that end meanwhile cannot make the result negative
        long ended = delivered() + dropped() + counters.sum(ELSEWHERE, ELSEWHERES);
        return Math.max(0, matched() - ended);
    }

    private static long refusedOther(LoopCounters counters) {
        long known = 0;
        for (ReasonCode reason : REFUSALS) {
            known += counters.sum(REFUSED + reason.ordinal());
        }
        return counters.sum(REFUSED, CODES) - known;
    }

    private void bindTo(MeterRegistry registry) {
        for (QoS qos : QoS.values()) {
            String level = Integer.toString(qos.level());
            counter("smqtt.messages.received", RECEIVED + qos.ordinal())
                    .description("messages accepted from publishers")
                    .tag("qos", level)
                    .register(registry);
            counter("smqtt.messages.delivered", DELIVERED + qos.ordinal())
                    .description("messages written to a subscriber for the first time")
                    .tag("qos", level)
                    .register(registry);
            counter("smqtt.messages.queued", QUEUED + qos.ordinal())
                    .description("messages queued for a session; each is delivered or dropped later")
                    .tag("qos", level)
                    .register(registry);
        }
        counter("smqtt.messages.unmatched", UNMATCHED)
                .description("messages accepted from publishers that no subscription matched")
                .register(registry);
        matched(registry, "publish", PUBLISH_MATCHES);
        matched(registry, "retained", ADDED + DeliverySource.RETAINED.ordinal());
        matched(registry, "redispatch", ADDED + DeliverySource.REDISPATCHED.ordinal());
        matched(registry, "recovered", ADDED + DeliverySource.RECOVERED.ordinal());
        matched(registry, "moved", ADDED + DeliverySource.MOVED_HERE.ordinal());
        matched(registry, "repeated", ADDED + DeliverySource.REPEATED.ordinal());
        for (Elsewhere reason : Elsewhere.values()) {
            counter("smqtt.messages.elsewhere", ELSEWHERE + reason.ordinal())
                    .description(
                            "deliveries that ended on this node because the message continues on another node or is a duplicate")
                    .tag("reason", Tagged.of(reason))
                    .register(registry);
        }
        for (DropReason reason : DropReason.values()) {
            counter("smqtt.messages.dropped", DROPPED + reason.ordinal())
                    .description("deliveries that ended without being written to the subscriber")
                    .tag("reason", Tagged.of(reason))
                    .register(registry);
            counter("smqtt.messages.abandoned", ABANDONED + reason.ordinal())
                    .description("QoS 1 and 2 messages delivered and then abandoned without an acknowledgement")
                    .tag("reason", Tagged.of(reason))
                    .register(registry);
        }
        for (ReasonCode reason : REFUSALS) {
            counter("smqtt.messages.refused", REFUSED + reason.ordinal())
                    .description("messages of publishers that were not accepted")
                    .tag("reason", Tagged.of(reason))
                    .register(registry);
        }
        FunctionCounter.builder("smqtt.messages.refused", counters, MessageCounts::refusedOther)
                .description("messages of publishers that were not accepted")
                .tag("reason", "other")
                .register(registry);
        counter("smqtt.payload.received", RECEIVED_BYTES)
                .description("payload bytes of accepted messages")
                .baseUnit("bytes")
                .register(registry);
        counter("smqtt.payload.delivered", DELIVERED_BYTES)
                .description("payload bytes of delivered messages")
                .baseUnit("bytes")
                .register(registry);
        counter("smqtt.retained.refused", RETAINED_REFUSED)
                .description("messages not retained because of the limits of retained messages")
                .register(registry);
        Gauge.builder("smqtt.messages.pending", this, MessageCounts::pending)
                .description("deliveries that have begun and not ended: matched - delivered - dropped - elsewhere")
                .register(registry);
    }

    private void matched(MeterRegistry registry, String source, int counter) {
        counter("smqtt.messages.matched", counter)
                .description("deliveries begun: one for each subscriber or shared group that a message matches")
                .tag("source", source)
                .register(registry);
    }

    private FunctionCounter.Builder<LoopCounters> counter(String name, int counter) {
        return FunctionCounter.builder(name, counters, all -> all.sum(counter));
    }
}
