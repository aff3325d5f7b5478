// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.smqtt.BrokerModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.session.Session;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The meters of one broker in the registry of the application that it is embedded in, and the status topics; no management port, and no
 * meters of the JVM, which belong to the application. It is a module and an observer:
 *
 * <pre>{@code
 * ApplicationMeters meters = ApplicationMeters.of(config, registry);
 * Broker.builder().config(config).observer(meters.observer()).module(meters).start();
 * }</pre>
 *
 * The meters are removed when the broker stops or fails to start.
 */
@AnyThread
public final class ApplicationMeters implements BrokerModule {

    private static final String OURS = "smqtt.";

    private final MeterRegistry registry;
    private final Set<Meter.Id> others = new HashSet<>();
    private final BrokerMeters meters;
    private final Duration sysInterval;
    private final List<LoopProbe> probes = new ArrayList<>(); // not changed after the start
    private volatile @Nullable StatusTopics topics;
    private volatile @Nullable AlarmWatch alarms;

    private ApplicationMeters(BrokerConfig config, MeterRegistry registry) {
        this.registry = registry;
        registry.getMeters().forEach(meter -> others.add(meter.getId()));
        sysInterval = config.management().sysInterval();
        meters = new BrokerMeters(registry, config.listeners().keySet(), StoreMeters.directory(config.storage()));
    }

    /**
     * Registers the meters of a broker that is about to start.
     *
     * @param config the configuration of the broker
     * @param registry the application's registry, for one broker at a time
     * @return the meters, for one run of the broker
     */
    public static ApplicationMeters of(BrokerConfig config, MeterRegistry registry) {
        return new ApplicationMeters(config, registry);
    }

    /**
     * Returns the observer that counts the events of the broker.
     *
     * @return for {@link io.smqtt.BrokerBuilder#observer}
     */
    public BrokerObserver observer() {
        return meters;
    }

    @Override
    public Mono<Void> start(Core core) {
        return Mono.fromRunnable(() -> begin(core));
    }

    private void begin(Core core) {
        Supplier<ClusterStatus> cluster = core.cluster();
        if (cluster != null) {
            ClusterMeters.bindTo(registry, cluster);
        }
        SessionTotals totals = new SessionTotals(core.sessions(), core.ticker());
        long waiting = core.sessions().queuedForGroups();
        for (Session session : core.sessions().all()) {
            waiting += session.queuedCount();
        }
        meters.messages().recovered(waiting);
        MetricModule.bindTo(core, totals, registry);
        for (int i = 0; i < core.router().loops().size(); i++) {
            LoopProbe probe = new LoopProbe(core.router().loops().get(i).executor(), i, registry);
            probes.add(probe);
            probe.start();
        }
        StatusPublisher publisher = sysInterval.isZero() ? null : new StatusPublisher(core);
        if (publisher != null) {
            StatusTopics status = new StatusTopics(core, publisher, meters, totals::get, MetricModule.version());
            topics = status;
            status.start(sysInterval);
        }
        AlarmWatch watch = new AlarmWatch(core, meters, probes, publisher);
        alarms = watch;
        watch.bindTo(registry);
        watch.start();
    }

    @Override
    public Mono<Void> stop() {
        return Mono.fromRunnable(() -> {
            StatusTopics status = topics;
            if (status != null) {
                status.stop();
            }
            AlarmWatch watch = alarms;
            if (watch != null) {
                watch.stop();
            }
            probes.forEach(LoopProbe::stop);
            for (Meter meter : List.copyOf(registry.getMeters())) {
                if (meter.getId().getName().startsWith(OURS) && !others.contains(meter.getId())) {
                    registry.remove(meter);
                }
            }
        });
    }
}
