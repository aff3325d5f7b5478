// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.topic;

import io.netty.util.concurrent.FastThreadLocal;
import io.smqtt.BrokerModule.Core;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.ImmediateSubscriber;
import io.smqtt.routing.Matches;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.TopicFilter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the messages of one filter that this node accepts, and their deliveries. A subscriber in the index, so that messages of other topics take no notice
 * of it. For the cluster it is a relay: other nodes send nothing here because of it.
 */
final class TopicCounter implements ImmediateSubscriber {

    private static final String NAME = "$topic-metrics";
    private static final int LEVELS = QoS.values().length;

    /** Reused by each event loop. */
    private static final FastThreadLocal<Matches> MATCHES = new FastThreadLocal<>() {
        @Override
        protected Matches initialValue() {
            return new Matches();
        }
    };

    private final Core core;
    private final Subscription subscription;
    private volatile Counts counts = new Counts();

    TopicCounter(Core core, TopicFilter filter) {
        this.core = core;
        this.subscription =
                new Subscription(this, filter, null, QoS.EXACTLY_ONCE, false, false, Subscription.NO_IDENTIFIER);
    }

    /** Counts since a time. */
    private static final class Counts {

        private final LongAdder[] in = adders(LEVELS);
        private final LongAdder[] out = adders(LEVELS);
        private final LongAdder dropped = new LongAdder();

        /** By name: the count at the last sample, and the rate up to it. */
        private volatile Map<String, Long> sampled = Map.of();

        private volatile Map<String, Double> rates = Map.of();
        private volatile long sampledNanos = System.nanoTime();

        private static LongAdder[] adders(int count) {
            LongAdder[] all = new LongAdder[count];
            for (int i = 0; i < count; i++) {
                all[i] = new LongAdder();
            }
            return all;
        }

        private static long sum(LongAdder[] adders) {
            long sum = 0;
            for (LongAdder adder : adders) {
                sum += adder.sum();
            }
            return sum;
        }

        Map<String, Long> read() {
            Map<String, Long> all = new LinkedHashMap<>();
            all.put("messages.in", sum(in));
            all.put("messages.out", sum(out));
            all.put("messages.dropped", dropped.sum());
            for (int level = 0; level < LEVELS; level++) {
                all.put("messages.qos" + level + ".in", in[level].sum());
                all.put("messages.qos" + level + ".out", out[level].sum());
            }
            return all;
        }

        void sample(long nowNanos) {
            Map<String, Long> now = read();
            double seconds = Math.max(1e-3, (nowNanos - sampledNanos) / 1e9);
            Map<String, Double> fresh = new LinkedHashMap<>();
            now.forEach((name, count) ->
                    fresh.put(name, Math.round((count - sampled.getOrDefault(name, 0L)) / seconds * 100) / 100.0));
            sampled = now;
            rates = fresh;
            sampledNanos = nowNanos;
        }
    }

    void begin() {
        core.router().index().add(subscription);
    }

    void end() {
        core.router().index().remove(this, subscription.filter(), null);
    }

    @AnyThread
    void reset() {
        counts = new Counts();
    }

    /** Computes the rates since the last call. One thread at a time. */
    void sample(long nowNanos) {
        counts.sample(nowNanos);
    }

    /** The counts and rates by EMQX's names. */
    @AnyThread
    Map<String, Number> metrics() {
        Counts present = counts;
        Map<String, Double> rates = present.rates;
        Map<String, Number> all = new LinkedHashMap<>();
        present.read().forEach((name, count) -> {
            all.put(name + ".count", count);
            all.put(name + ".rate", rates.getOrDefault(name, 0.0));
        });
        return all;
    }

    @Override
    @OnEventLoop
    public void deliver(ApplicationMessage message, Subscription matched, RouteTicket ticket) {
        Counts present = counts;
        present.in[message.qos().level()].increment();
        core.observer().messageDelivered(message.qos(), message.payload().size()); // ends this delivery in the account
        Matches matches = MATCHES.get();
        core.router().index().match(message.topic(), matches);
        boolean awaited = matches.sharedSize() > 0;
        for (int i = 0; i < matches.sharedSize(); i++) {
            present.out[message.qos().level()].increment();
        }
        for (int i = 0; i < matches.size(); i++) {
            Subscription other = matches.get(i);
            if (!(other.subscriber() instanceof TopicCounter)) {
                awaited = true;
                present.out[message.qos().atMost(other.maximumQos()).level()].increment();
            }
        }
        matches.clear();
        if (!awaited) {
            present.dropped.increment();
        }
    }

    @Override
    public String id() {
        return NAME;
    }

    /** True: it looks at no payload, so none has to be copied for it. */
    @Override
    public boolean retainsPayloads() {
        return true;
    }
}
