// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.ReceivedMessage;
import io.smqtt.config.RuleActionConfig;
import io.smqtt.log.LogLimiter;
import io.smqtt.log.Outage;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.LogText;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.spi.RuleStatus;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.publisher.BaseSubscriber;

/**
 * A subscriber that writes the messages of a consumer of an application into a sink, without a rule:
 * {@code broker.receive("orders/#", options).subscribe(SinkFeed.to(sink).build())}. It has the batches, the order by topic and the repetitions of an
 * action of a rule, and acknowledges a message when the sink has its row. Of one consumer; closes the sink with itself.
 */
@AnyThread
public final class SinkFeed extends BaseSubscriber<ReceivedMessage> implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SinkFeed.class);
    private static final LogLimiter LINES = new LogLimiter(LOG, Level.WARN, 1);

    private final Sink sink;
    private final String name;
    private final RuleActionConfig config;
    private final Function<ApplicationMessage, Map<String, @Nullable Object>> rows;
    private final BiConsumer<ApplicationMessage, String> givenUp;
    private final RuleCounts counts = new RuleCounts();
    private final List<Lane> lanes = new ArrayList<>();
    private final Outage outage;
    private volatile boolean failing;
    private volatile boolean closed;

    private SinkFeed(Builder from) {
        sink = from.sink;
        name = from.name;
        config = from.config;
        rows = from.rows;
        givenUp = from.givenUp == null ? this::logged : from.givenUp;
        outage = new Outage(
                LOG, Level.WARN, "feed " + name + ": the sink fails", "feed " + name + ": the sink works again");
        for (int i = 0; i < config.lanes(); i++) {
            lanes.add(new Lane(sink, config, new Outcomes()));
        }
    }

    /**
     * Begins a feed.
     *
     * @param sink where messages are written; the feed closes it
     * @return a builder, for one thread
     */
    public static Builder to(Sink sink) {
        return new Builder(sink);
    }

    /** The settings of a feed. Not thread-safe. */
    public static final class Builder {

        private final Sink sink;
        private String name = "sink";
        private RuleActionConfig config = RuleActionConfig.builder("sink").build();
        private Function<ApplicationMessage, Map<String, @Nullable Object>> rows = SinkFeed::row;
        private @Nullable BiConsumer<ApplicationMessage, String> givenUp;

        private Builder(Sink sink) {
            this.sink = sink;
        }

        /**
         * Names the feed in the log.
         *
         * @param feed the name
         * @return this
         */
        public Builder name(String feed) {
            name = feed;
            return this;
        }

        /**
         * Sets batches, lanes, timeout, repetitions and the number of messages in flight. What concerns the queue is an option of the consumer.
         * Sinks have timeouts and connections that fit those of their context: give both the same, by {@link SinkContext#config()}.
         *
         * @param action as for an action of a rule; its type and settings are not used
         * @return this
         */
        public Builder config(RuleActionConfig action) {
            config = action;
            return this;
        }

        /**
         * Makes rows of messages.
         *
         * @param function called on event loops, so it must not block; a message for which it throws is given up. By default {@link SinkFeed#row}
         * @return this
         */
        public Builder rows(Function<ApplicationMessage, Map<String, @Nullable Object>> function) {
            rows = function;
            return this;
        }

        /**
         * Takes messages that the sink will never have. They are acknowledged afterwards.
         *
         * @param letters called on any thread with the message and the reason, must not block; by default they are logged
         * @return this
         */
        public Builder givenUp(BiConsumer<ApplicationMessage, String> letters) {
            givenUp = letters;
            return this;
        }

        /**
         * Makes the feed.
         *
         * @return a subscriber for one consumer
         */
        public SinkFeed build() {
            return new SinkFeed(this);
        }
    }

    /**
     * The row of a message: {@code topic}, {@code qos}, {@code retain}, {@code clientid}, and {@code payload} as text, or {@code payload_base64} if it
     * is not UTF-8.
     *
     * @param message a message
     * @return a new row
     */
    public static Map<String, @Nullable Object> row(ApplicationMessage message) {
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        row.put("topic", message.topic().value());
        row.put("qos", (long) message.qos().level());
        row.put("retain", message.retain());
        row.put("clientid", message.publisherId());
        if (message.payload().isUtf8()) {
            row.put("payload", message.payload().asString());
        } else {
            row.put(
                    "payload_base64",
                    Base64.getEncoder().encodeToString(message.payload().toByteArray()));
        }
        return row;
    }

    /**
     * The account of the feed.
     *
     * @return a snapshot; what was received is a success, dead (given up), dropped (at the end) or queued
     */
    public RuleStatus.Counts counts() {
        return counts.snapshot(0, 0);
    }

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
        request(config.inflight());
    }

    @Override
    protected void hookOnNext(ReceivedMessage received) {
        ApplicationMessage message = received.message();
        counts.received.increment();
        counts.matched.increment();
        Map<String, @Nullable Object> row;
        try {
            row = rows.apply(message);
        } catch (RuntimeException e) {
            counts.failed.increment();
            giveUp(received, "no row: " + e.getMessage());
            return;
        }
        int spread = RuleThreads.spread(message.topic().value()) >>> 8;
        Lane lane = lanes.get(Math.floorMod(spread, lanes.size()));
        if (!lane.add(
                new Delivery.Item(new SinkRecord(row, message), new Delivery(received, 1, message.footprintBytes())))) {
            counts.dropped.increment(); // the feed has ended
        }
    }

    @Override
    protected void hookOnError(Throwable error) {
        if (!closed) {
            LOG.warn("feed {}: its consumer has ended: {}", name, error.getMessage());
        }
    }

    private void giveUp(ReceivedMessage received, String reason) {
        try {
            givenUp.accept(received.message(), reason);
        } catch (RuntimeException e) {
            LOG.warn("feed {}: a message that is given up was not taken", name, e);
        }
        counts.dead.increment();
        finish(received);
    }

    private void logged(ApplicationMessage message, String reason) {
        if (LINES.allows(name)) {
            LOG.warn(
                    "feed {}: a message is given up, topic {}: {}",
                    name,
                    LogText.escape(message.topic().value()),
                    LogText.escape(reason));
        }
    }

    private void finish(ReceivedMessage received) {
        received.acknowledge();
        if (!closed) {
            request(1);
        }
    }

    /** The outcome of the rows of one lane. */
    private final class Outcomes implements Lane.Outcomes {

        @Override
        public void succeeded(List<Delivery.Item> items) {
            int settled = 0;
            for (Delivery.Item item : items) {
                if (item.delivery().settle()) { // otherwise the feed has ended
                    counts.success.increment();
                    item.delivery().message().acknowledge();
                    settled++;
                }
            }
            if (settled > 0 && !closed) {
                request(settled);
            }
        }

        @Override
        public void refused(Delivery.Item item, String reason) {
            if (!item.delivery().settle()) {
                return; // the feed has ended
            }
            giveUp(item.delivery().message(), reason);
        }

        @Override
        public void failed(String reason, int number) {
            counts.retried.add(number);
            failing = true;
            outage.failed(LogText.escape(reason));
        }

        @Override
        public void worked() {
            if (failing) {
                failing = false;
                outage.recovered();
            }
        }
    }

    /** Ends the consumer, and closes the sink. What is not acknowledged stays with a durable consumer. Blocks for some seconds at most. */
    @Override
    public void close() {
        closed = true;
        cancel();
        lanes.forEach(lane -> lane.close().stream()
                .filter(item -> item.delivery().abandon())
                .forEach(item -> counts.dropped.increment()));
        sink.close();
    }
}
