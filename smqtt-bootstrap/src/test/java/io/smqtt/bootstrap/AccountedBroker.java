// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.FunctionCounter;
import io.smqtt.cluster.ClusterModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.DropPolicy;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.ManagementConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.QoS;
import io.smqtt.metric.MetricModule;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.test.BrokerClock;
import io.smqtt.test.TestBroker;
import io.smqtt.test.cluster.MemoryNetwork;
import io.smqtt.test.store.ManualStore;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A broker with meters, a store that can fail, and what the observer was told as a second account. */
final class AccountedBroker implements AutoCloseable {

    private static final String[] ENDS = {
        "smqtt.messages.delivered", "smqtt.messages.dropped", "smqtt.messages.elsewhere"
    };

    final String name;
    final ManualStore store;
    private final BrokerClock clock = BrokerClock.running();
    private final boolean queueQos0;
    private final DropPolicy policy;
    private final @Nullable MemoryNetwork network;
    private AtomicLong matches = new AtomicLong();
    private @Nullable MetricModule metrics;
    private @Nullable TestBroker broker;

    AccountedBroker(String name, Random random, @Nullable MemoryNetwork network) {
        this.name = name;
        this.network = network;
        store = new ManualStore(clock);
        queueQos0 = random.nextBoolean();
        policy = random.nextBoolean() ? DropPolicy.OLDEST : DropPolicy.NEWEST;
        start();
    }

    private void start() {
        AtomicLong told = new AtomicLong();
        matches = told;
        ManagementConfig management =
                ManagementConfig.builder().port(0).sysInterval(Duration.ZERO).build();
        broker = TestBroker.builder()
                .clock(clock)
                .config(config -> config.limits(LimitsConfig.builder()
                                .maxQueuedMessages(6)
                                .maxOutboundBytes(300_000)
                                .build())
                        .session(SessionConfig.builder()
                                .queueQos0(queueQos0)
                                .dropPolicy(policy)
                                .build())
                        .management(management))
                .parts(parts -> {
                    MetricModule module = MetricModule.create(BrokerConfig.builder()
                            .listeners(Map.of("mqtt", ListenerConfig.tcp(0)))
                            .management(management)
                            .build());
                    metrics = module;
                    if (network != null) {
                        parts.module(ClusterModule.of(
                                ClusterConfig.builder().nodeId(name).build(), network.transport(name)));
                    }
                    return parts.store(store)
                            .module(module)
                            .observer(module.observer())
                            .observer(new BrokerObserver() {
                                @Override
                                public void messageReceived(QoS qos, int payloadBytes, int count) {
                                    told.addAndGet(count);
                                }
                            });
                })
                .start();
    }

    TestBroker broker() {
        return Objects.requireNonNull(broker);
    }

    /** Ends as a killed process does, and starts again with its store and with accounts that are empty. Nobody else may be cut off. */
    void kill() {
        if (network != null) {
            network.partition(name); // so that nobody hears of the end
        }
        store.kill();
        broker().close();
        store.heal();
        start();
        if (network != null) {
            network.heal();
        }
    }

    long sum(String meter, String... tags) {
        return (long) metrics().registry().find(meter).tags(tags).functionCounters().stream()
                .mapToDouble(FunctionCounter::count)
                .sum();
    }

    long gauge(String meter) {
        return (long) metrics().registry().get(meter).gauge().value();
    }

    /** Why deliveries came about, were dropped, or ended elsewhere: all tags that have counted anything. */
    Set<String> reasons() {
        return Stream.of("smqtt.messages.dropped", "smqtt.messages.elsewhere", "smqtt.messages.matched")
                .flatMap(meter -> metrics().registry().find(meter).functionCounters().stream())
                .filter(counter -> counter.count() > 0)
                .map(counter -> Objects.requireNonNullElseGet(
                        counter.getId().getTag("reason"), () -> counter.getId().getTag("source")))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private MetricModule metrics() {
        return Objects.requireNonNull(metrics);
    }

    /** Whether nothing waits for other nodes, or is on its way to them, and what was dropped for them is counted for a node, too. */
    boolean hasForwarded() {
        if (network == null) {
            return true;
        }
        metrics().scrape(); // reads the state of the cluster
        return metrics().registry().find("smqtt.cluster.queue").gauges().stream()
                .allMatch(queue -> queue.value() == 0);
    }

    /** What came about, less what has ended: by the meters themselves, not by the gauge that is made of them. */
    long open() {
        long open = sum("smqtt.messages.matched");
        for (String end : ENDS) {
            open -= sum(end);
        }
        return open;
    }

    /** Nothing is on its way any more, and the account balances. */
    void assertBalance(String context) {
        assertThat(hasForwarded()).as("%s: all is forwarded", context).isTrue();
        for (String reason : network == null ? new String[0] : new String[] {"peer_queue", "peer_gone"}) {
            assertThat(sum("smqtt.cluster.dropped", "reason", reason))
                    .as("%s: dropped as %s, over all nodes", context, reason)
                    .isEqualTo(sum("smqtt.messages.dropped", "reason", reason));
        }
        long waiting = gauge("smqtt.messages.waiting");
        assertThat(sum("smqtt.messages.matched", "source", "publish"))
                .as("%s: matches of what was received", context)
                .isEqualTo(matches.get());
        assertThat(open())
                .as("%s: matched, less what has ended, waits: %s", context, table())
                .isBetween(
                        waiting,
                        waiting + gauge("smqtt.messages.inflight")); // QoS 2 leaves its queue before it is sent
    }

    /** All counters that the account is made of, for people. */
    String table() {
        StringBuilder text = new StringBuilder();
        metrics().registry().getMeters().stream()
                .filter(meter ->
                        meter.getId().getName().matches("smqtt\\.messages\\.(matched|delivered|dropped|elsewhere)"))
                .map(FunctionCounter.class::cast)
                .filter(counter -> counter.count() > 0)
                .forEach(counter -> text.append(counter.getId().getName().substring("smqtt.messages.".length()))
                        .append(counter.getId().getTags())
                        .append(' ')
                        .append((long) counter.count())
                        .append(' '));
        text.append("inflight ").append(gauge("smqtt.messages.inflight")).append(' ');
        return text.append("waiting ").append(gauge("smqtt.messages.waiting")).toString();
    }

    @Override
    public void close() {
        broker().close();
    }
}
