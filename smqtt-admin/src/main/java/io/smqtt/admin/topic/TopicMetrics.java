// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.topic;

import io.smqtt.BrokerModule;
import io.smqtt.admin.object.LiveObject;
import io.smqtt.admin.object.LiveObjects;
import io.smqtt.admin.object.ObjectKind;
import io.smqtt.admin.object.ObjectLimits;
import io.smqtt.admin.object.ObjectWatcher;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicFilter;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Counts the messages of the filters that operators have chosen, each node those that it accepts. Without a filter it does nothing. */
@AnyThread
public final class TopicMetrics implements BrokerModule {

    /** Maximum number of filters. */
    static final int MAX_FILTERS = 512;

    private static final int SAMPLE_SECONDS = 5;

    private final ObjectKind<TopicMetric> filters;
    private final Map<String, TopicCounter> counters = new ConcurrentHashMap<>();
    private volatile @Nullable Core core;
    private volatile @Nullable Disposable sampling;

    /**
     * Creates the counts of a node; nothing is counted yet.
     *
     * @param objects keeps what operators have chosen
     */
    public TopicMetrics(LiveObjects objects) {
        filters = objects.kind("topic_metric", TopicMetric.FORMAT, new ObjectLimits(MAX_FILTERS, 4 << 10, 1 << 20));
    }

    /** The topic filters for which operators have switched metrics on. */
    ObjectKind<TopicMetric> filters() {
        return filters;
    }

    /** The counts of this node by filter, sorted. */
    Map<String, Map<String, Number>> read() {
        Map<String, Map<String, Number>> all = new TreeMap<>();
        counters.forEach((filter, counter) -> all.put(filter, counter.metrics()));
        return all;
    }

    /** Sets counts of this node to 0; null for those of all filters. */
    void reset(@Nullable String filter) {
        counters.forEach((name, counter) -> {
            if (filter == null || filter.equals(name)) {
                counter.reset();
            }
        });
    }

    @Override
    public Mono<Void> start(Core started) {
        return Mono.fromRunnable(() -> {
            core = started;
            sampling = Schedulers.boundedElastic()
                    .schedulePeriodically(this::sample, SAMPLE_SECONDS, SAMPLE_SECONDS, TimeUnit.SECONDS);
            filters.watch(new ObjectWatcher<>() {

                @Override
                public void changed(LiveObject<TopicMetric> object) {
                    counters.computeIfAbsent(object.id(), filter -> {
                        TopicCounter counter = new TopicCounter(started, TopicFilter.of(filter));
                        counter.begin();
                        return counter;
                    });
                }

                @Override
                public void removed(String id) {
                    TopicCounter counter = counters.remove(id);
                    if (counter != null) {
                        counter.end();
                    }
                }
            });
        });
    }

    private void sample() {
        long now = System.nanoTime();
        counters.values().forEach(counter -> counter.sample(now));
    }

    @Override
    public Mono<Void> stop() {
        return Mono.fromRunnable(() -> {
            Disposable running = sampling;
            if (running != null) {
                running.dispose();
            }
            if (core != null) {
                counters.values().forEach(TopicCounter::end);
            }
        });
    }
}
