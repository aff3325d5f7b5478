// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A node that takes its messages slowly, or not at all, while another one has many for it, does not disturb what goes from there to a
 * third node: none of these messages is lost, their publisher stays connected, and what is dropped for the slow node is counted. With
 * {@code -Dsmqtt.slow.seconds=30} for each part the delays are compared, too; the short form prints them.
 */
@Tag("long")
class SlowPeerIT {

    private static final int SECONDS = Integer.getInteger("smqtt.slow.seconds", 3);
    private static final int FLOOD = Integer.getInteger("smqtt.slow.flood", 10_000);
    private static final boolean MEASURED = SECONDS >= 20;
    private static final Duration PACE = Duration.ofMillis(5);
    private static final Duration PATIENCE = LoopbackCluster.PATIENCE;
    private static final Duration DETECTED = Duration.ofSeconds(9);
    private static final String RATE = "4mbit";
    private static final String WANTED = "flood/wanted";
    private static final String UNWANTED = "flood/unwanted";
    private static final String FULL = "full";

    /** Messages so large that those in flight to one publisher fill the queue to a node. */
    private static final int FULL_BYTES = 40_000;

    private static final int FULL_FLOOD = 500;
    private static final String STORE_BYTES = "24MiB";
    private static final int STORE_FLOOD = 1_000;
    private static final int STORE_PAYLOAD_BYTES = 8_000;

    /** Delays of two cores that run everything differ by this much between two parts that should be alike. */
    private static final long TOLERANCE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    @TempDir
    Path directory;

    private final Map<String, Long> p99 = new LinkedHashMap<>();

    /** What the parts need of a cluster of three nodes. */
    private interface Nodes {

        InetSocketAddress address(int node);

        BrokerProcess broker(int node);

        /** A meter, summed up over its tags. */
        double metric(int node, String name);
    }

    private static void say(String format, Object... values) {
        System.out.println("[slow peer] " + String.format(Locale.ROOT, format, values));
    }

    @Test
    void aPeerThatIsStoppedDisturbsNoOther() {
        try (LoopbackCluster cluster = LoopbackCluster.start(directory, 3, "memory")) {
            Nodes nodes = nodes(node -> cluster.broker(node).address("tcp"), cluster::broker, cluster::metrics);
            try (Scene scene = new Scene(nodes)) {
                scene.measure("no flood");
                scene.flood.to(UNWANTED);
                scene.measure("a flood that nobody wants");
                scene.flood.to(WANTED);
                scene.measure("a flood to C");
                try (Stutter stutter = new Stutter(nodes.broker(2))) {
                    scene.measure("C stopped for 0.9 of each second");
                    stutter.requireNoFailure();
                }
                nodes.broker(2).signal("STOP");
                try {
                    scene.measure("C stopped", DETECTED);
                } finally {
                    nodes.broker(2).signal("CONT");
                }
                scene.requireDropped("peer_queue");
                scene.requireDropped("peer_gone");
                scene.end();
            }
        }
        compare();
    }

    @Test
    void aPeerBehindASlowLinkDisturbsNoOther() {
        assumeThat(ClusterNetwork.isAllowed())
                .as("networks of their own need root, ip and tc")
                .isTrue();
        try (ClusterNetwork network = new ClusterNetwork(directory, 3, "")) {
            network.startAll();
            Nodes nodes = nodes(network::address, network::broker, network::metrics);
            try (Scene scene = new Scene(nodes)) {
                scene.measure("no flood");
                scene.flood.to(UNWANTED);
                scene.measure("a flood that nobody wants");
                Drain other = new Drain(nodes.address(2), FULL, 1);
                other.start();
                network.limit(2, RATE);
                scene.flood.to(WANTED);
                scene.measure("C behind " + RATE);
                scene.requireDropped("peer_queue");
                scene.flood.to(UNWANTED);
                scene.awaitNoMoreDrops(); // of the flood that was wanted until now
                long before = scene.dropped();
                try (Flood full = new Flood(nodes.address(0), FULL, 1, FULL_FLOOD, FULL_BYTES, PATIENCE)) {
                    // their answers come later, behind those of messages that wait
                    await().atMost(PATIENCE).until(() -> scene.dropped() > before || full.failure() != null);
                    scene.measure("the queue to C full");
                    network.unlimit(2);
                    requireAnswered(full, scene);
                    // a node that is cut off for seconds by a slow link ends the routes of its clean sessions
                    await().atMost(PATIENCE)
                            .untilAsserted(() -> assertThat(other.received() + scene.gone())
                                    .as("received of what was acknowledged; %s; %s", other.end(), scene.reasons())
                                    .isGreaterThanOrEqualTo(full.accepted() - full.unmatched()));
                    scene.end(full.sent(), other::received);
                }
            }
        }
        compare();
    }

    @Test
    void aPeerWhoseStoreIsFullDisturbsNoOther() {
        try (LoopbackCluster cluster =
                LoopbackCluster.start(directory, 3, "rocksdb", "storage.max-bytes=" + STORE_BYTES)) {
            Nodes nodes = nodes(node -> cluster.broker(node).address("tcp"), cluster::broker, cluster::metrics);
            try (RawClient absent = cluster.stored(2, "absent")) {
                absent.subscribe(FULL, 1);
                absent.disconnect();
            }
            try (Scene scene = new Scene(nodes)) {
                scene.measure("no flood");
                scene.flood.to(UNWANTED);
                scene.measure("a flood that nobody wants");
                try (Flood full = new Flood(nodes.address(0), FULL, 1, STORE_FLOOD, STORE_PAYLOAD_BYTES, PATIENCE)) {
                    await().atMost(PATIENCE).until(() -> full.refused() > 0 || full.failure() != null);
                    scene.measure("the store of C full");
                    requireAnswered(full, scene);
                    try (RawClient absent = cluster.stored(2, "absent")) {
                        int received = 0;
                        while (received < full.accepted()) {
                            absent.pubAck(absent.expect(MqttMessageType.PUBLISH));
                            received++;
                        }
                        say("all %d that were acknowledged for the full node are there", received);
                    }
                    scene.end(full.refused());
                }
            }
        }
        compare();
    }

    private static void requireAnswered(Flood full, Scene scene) {
        full.stop();
        await().atMost(PATIENCE).until(() -> full.isAnswered() || full.failure() != null);
        assertThat(full.failure()).isNull();
        assertThat(full.refused() + scene.gone()).as(scene.reasons()).isPositive();
        say(
                "QoS 1 flood: %d acknowledged, %d of them without subscriber, %d refused with 0x97",
                full.accepted(), full.unmatched(), full.refused());
    }

    private static Nodes nodes(
            IntFunction<InetSocketAddress> addresses,
            IntFunction<BrokerProcess> brokers,
            java.util.function.BiFunction<Integer, String, Double> metrics) {
        return new Nodes() {
            @Override
            public InetSocketAddress address(int node) {
                return addresses.apply(node);
            }

            @Override
            public BrokerProcess broker(int node) {
                return brokers.apply(node);
            }

            @Override
            public double metric(int node, String name) {
                return metrics.apply(node, name);
            }
        };
    }

    private void compare() {
        if (MEASURED) {
            long alone = p99.values().iterator().next();
            assertThat(p99)
                    .allSatisfy((part, nanos) ->
                            assertThat(nanos).as("p99 with %s", part).isLessThanOrEqualTo(2 * alone + TOLERANCE_NANOS));
        }
    }

    /** The clients: a steady load from the first node to the second, and a flood from the first to the third. */
    private final class Scene implements AutoCloseable {

        private final Nodes nodes;
        private final SteadyLoad steady;
        private final Drain drain;
        private @Nullable Flood running;
        private final Switch flood = new Switch();

        /** Begins the flood with its first topic. */
        private final class Switch {

            void to(String topic) {
                Flood present = running;
                if (present == null) {
                    running = new Flood(nodes.address(0), topic, 0, FLOOD, 1_000, PATIENCE);
                } else {
                    present.to(topic);
                }
            }
        }

        Scene(Nodes nodes) {
            this.nodes = nodes;
            drain = new Drain(nodes.address(2), WANTED, 0);
            drain.start();
            steady = new SteadyLoad(nodes.address(0), nodes.address(1), PACE, PATIENCE);
            steady.begin();
            await().atMost(PATIENCE).until(() -> steady.sent() > 1_000 || steady.failure() != null); // warmed up
        }

        void measure(String part) {
            measure(part, Duration.ZERO);
        }

        void measure(String part, Duration atLeast) {
            int from = steady.sent();
            long longest = Math.max(TimeUnit.SECONDS.toNanos(SECONDS), atLeast.toNanos());
            long began = System.nanoTime();
            Flood present = running;
            long floodBefore = present == null ? 0 : present.sent();
            await().atMost(Duration.ofNanos(longest).plus(PATIENCE))
                    .until(() -> System.nanoTime() - began >= longest || hasFailed());
            requireNoFailure();
            long[] delays = steady.delays(from, steady.sent());
            p99.put(part, delays[delays.length * 99 / 100]);
            say(
                    "%-34s p50 %.2f ms, p99 %.1f ms, longest %.1f ms of %d; flood %.0f/s",
                    part + ":",
                    delays[delays.length / 2] / 1e6,
                    delays[delays.length * 99 / 100] / 1e6,
                    delays[delays.length - 1] / 1e6,
                    delays.length,
                    present == null ? 0 : (present.sent() - floodBefore) * 1e9 / longest);
        }

        private boolean hasFailed() {
            return steady.failure() != null || (running != null && running.failure() != null);
        }

        private void requireNoFailure() {
            assertThat(steady.failure()).isNull();
            if (running != null) {
                assertThat(running.failure()).isNull();
            }
        }

        void end() {
            end(0);
        }

        void end(long refused) {
            end(refused, () -> 0);
        }

        /**
         * All of the steady load has arrived, and all of the flood has arrived or was dropped for a reason.
         *
         * @param others the number of messages of other publishers that were dropped, or that others received
         * @param received how many of them others received
         */
        void end(long others, LongSupplier received) {
            Flood ending = running;
            assertThat(ending).isNotNull();
            ending.stop();
            requireNoFailure();
            steady.stop();
            await().atMost(PATIENCE).until(() -> steady.isComplete() || steady.failure() != null);
            say("%s", steady);
            assertThat(steady.failure()).isNull();
            assertThat(steady.isComplete()).as("%s", steady).isTrue();
            long sent = ending.sent() + others;
            await().atMost(PATIENCE).untilAsserted(() -> {
                long known = drain.received() + received.getAsLong() + dropped() + unmatched();
                if (gone() == 0) {
                    assertThat(known)
                            .as("%d received, %s", drain.received(), reasons())
                            .isEqualTo(sent);
                } else { // what was on its way to a node that is cut off counts as dropped, and may have arrived
                    assertThat(known)
                            .as("%d received, %s", drain.received(), reasons())
                            .isGreaterThanOrEqualTo(sent);
                }
            });
            say("flood: %d sent, %d received, %s", ending.sent(), drain.received(), reasons());
        }

        /** Messages dropped because their node was unreachable. */
        long gone() {
            return (long) nodes.metric(0, "smqtt_messages_dropped_total{reason=\"peer_gone\"");
        }

        void requireDropped(String reason) {
            assertThat(nodes.metric(0, "smqtt_messages_dropped_total{reason=\"" + reason + "\""))
                    .isPositive();
        }

        /** Waits until what was sent before is delivered or dropped. */
        private void awaitNoMoreDrops() {
            AtomicLong last = new AtomicLong(dropped());
            await().atMost(PATIENCE).during(Duration.ofSeconds(1)).until(() -> {
                long now = dropped();
                return last.getAndSet(now) == now;
            });
        }

        private long dropped() {
            return (long)
                    (nodes.metric(0, "smqtt_messages_dropped_total") + nodes.metric(2, "smqtt_messages_dropped_total"));
        }

        /** Nobody wants a message while a node is unreachable that has its only subscriber, without a session. */
        private long unmatched() {
            return (long) nodes.metric(0, "smqtt_messages_unmatched_total");
        }

        private String reasons() {
            StringBuilder text = new StringBuilder(unmatched() + " without subscriber, dropped");
            for (String reason : new String[] {"peer_queue", "peer_gone", "slow_consumer", "queue_full"}) {
                for (int node : new int[] {0, 2}) {
                    double count = nodes.metric(node, "smqtt_messages_dropped_total{reason=\"" + reason + "\"");
                    if (count > 0) {
                        text.append(String.format(Locale.ROOT, " %.0f as %s by n%d", count, reason, node));
                    }
                }
            }
            return text.toString();
        }

        @Override
        public void close() {
            Flood present = running;
            if (present != null) {
                present.close();
            }
            steady.close();
            drain.client.close();
        }
    }

    /** A subscriber of a flood on the third node. */
    private static final class Drain extends Thread {

        private final RawClient client;
        private volatile long received;
        private volatile String end = "reads on";

        Drain(InetSocketAddress broker, String topic, int qos) {
            super("drain of " + topic);
            client = RawClient.to(broker, ProtocolVersion.MQTT_5).deadline(Duration.ofMinutes(10));
            client.connect("drain-" + qos);
            client.subscribe(topic, qos);
            setDaemon(true);
        }

        long received() {
            return received;
        }

        /** Why it reads no more. */
        String end() {
            return end;
        }

        @Override
        public void run() {
            try {
                ReceivedPacket packet = client.receive();
                while (packet != null && packet.type() == MqttMessageType.PUBLISH) {
                    received++;
                    if (packet.qos() == 1) {
                        client.pubAck(packet);
                    }
                    packet = client.receive();
                }
                end = "got " + packet;
            } catch (RuntimeException | AssertionError e) {
                end = e.toString();
            }
        }
    }

    /** Stops a process for 0.9 of each second. */
    private static final class Stutter implements AutoCloseable {

        private static final long STOPPED_NANOS = TimeUnit.MILLISECONDS.toNanos(900);
        private static final long RUNNING_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

        private final BrokerProcess broker;
        private final Thread thread = new Thread(this::run, "stutter");
        private volatile boolean stopping;
        private volatile @Nullable Throwable failure;

        Stutter(BrokerProcess broker) {
            this.broker = broker;
            thread.setDaemon(true);
            thread.start();
        }

        private void run() {
            try {
                while (!stopping) {
                    broker.signal("STOP");
                    try {
                        LockSupport.parkNanos(STOPPED_NANOS);
                    } finally {
                        broker.signal("CONT");
                    }
                    LockSupport.parkNanos(RUNNING_NANOS);
                }
            } catch (RuntimeException e) {
                failure = e;
            }
        }

        void requireNoFailure() {
            assertThat(failure).isNull();
        }

        @Override
        public void close() {
            stopping = true;
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }
    }
}
