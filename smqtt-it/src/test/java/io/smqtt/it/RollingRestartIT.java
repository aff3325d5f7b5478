// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two nodes of a cluster behind nginx, of which each is stopped and started again while clients publish and listen through nginx and come
 * back to the other node by themselves. Clients with stored sessions wait for their node: their sessions move to the other one when it stops,
 * and back when it returns, and nothing that was acknowledged is lost. {@link RollingSessionsIT} has clients that do not wait.
 *
 * <p>No client through nginx may be without an acknowledgement or a message for longer than {@code smqtt.restart.gap} seconds: 15 by
 * default, because machines that run tests are busy; the promise is 5, which {@code -Dsmqtt.restart.gap=5} asserts.
 */
@Tag("long")
class RollingRestartIT {

    private static final Duration PATIENCE = ClusterNetwork.PATIENCE;
    private static final Duration PACE = Duration.ofMillis(5);
    private static final Duration LONGEST_GAP = Duration.ofSeconds(Integer.getInteger("smqtt.restart.gap", 15));
    private static final int PUBLISHERS = 4;
    private static final int LISTENERS = 2;

    @TempDir
    Path directory;

    private final List<BrokerProcess> brokers = new ArrayList<>();
    private final List<Whereabouts> places = List.of(new Whereabouts(), new Whereabouts());
    private List<Integer> ports;
    private int cluster;
    private NginxFront front;

    @BeforeEach
    void start() throws IOException {
        ports = LoopbackPorts.some(2);
        cluster = LoopbackPorts.one();
        brokers.add(startNode(0));
        brokers.add(startNode(1));
        front = new NginxFront(directory, ports);
    }

    @AfterEach
    void end() {
        if (front != null) {
            front.close();
        }
        brokers.forEach(BrokerProcess::close);
    }

    /** Each node has a loopback address of its own for its cluster's port, and one port for clients. */
    private BrokerProcess startNode(int index) throws IOException {
        String yaml = """
                management:
                  port: 0
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: %d
                  ws:
                    enabled: false
                storage:
                  kind: rocksdb
                limits:
                  max-queued-messages: 1000000
                  max-queued-bytes: 1000000000
                cluster:
                  enabled: true
                  node-id: n%d
                  bind: '127.0.0.%d:%d'
                  seeds: ['127.0.0.1:%d', '127.0.0.2:%d']
                  drain: 1s
                """.formatted(ports.get(index), index, index + 1, cluster, cluster, cluster);
        Path home = Files.createDirectories(directory.resolve("n" + index));
        return BrokerProcess.start(home, List.of(), Files.writeString(home.resolve("smqtt.yaml"), yaml));
    }

    @Test
    void nothingThatWasAcknowledgedIsLost() throws Exception {
        List<PacedPublisher> publishers = new ArrayList<>();
        List<JournalSubscriber> subscribers = new ArrayList<>();
        List<GapListener> listeners = new ArrayList<>();
        for (int i = 0; i < PUBLISHERS; i++) {
            publishers.add(new PacedPublisher("load-" + i, front.address(), PACE));
            subscribers.add(new JournalSubscriber(i + "", "load-" + i, 1, places.get(i % 2)));
        }
        List<PacedPublisher> heard =
                new ArrayList<>(); // by others than stored sessions, for whose routes this test waits
        for (int i = 0; i < LISTENERS; i++) {
            heard.add(new PacedPublisher("heard-" + i, front.address(), PACE));
            listeners.add(new GapListener("heard-" + i, front.address()));
        }
        places.get(0).set(Endpoint.loopback(ports.get(0)));
        places.get(1).set(Endpoint.loopback(ports.get(1)));
        subscribers.forEach(Thread::start);
        listeners.forEach(Thread::start);
        await().atMost(PATIENCE).until(() -> subscribers.stream().allMatch(JournalSubscriber::isSubscribed));
        awaitRoutes();
        publishers.forEach(Thread::start);
        heard.forEach(Thread::start);
        awaitProgress(publishers);

        for (int node = 0; node < 2; node++) {
            places.get(node).set(null);
            brokers.get(node).terminate();
            assertThat(brokers.get(node).awaitExit(PATIENCE)).isZero();
            awaitProgress(publishers);
            brokers.get(node).close();
            brokers.set(node, startNode(node));
            places.get(node).set(Endpoint.loopback(ports.get(node)));
            awaitRoutes();
            awaitProgress(publishers);
        }

        listeners.forEach(GapListener::finish);
        heard.forEach(PacedPublisher::finish);
        publishers.forEach(PacedPublisher::finish);
        for (int i = 0; i < PUBLISHERS; i++) {
            JournalSubscriber subscriber = subscribers.get(i);
            int count = publishers.get(i).acknowledged();
            await().atMost(PATIENCE).until(() -> subscriber.highest() >= count - 1 || subscriber.failure() != null);
            subscriber.finish();
        }
        brokers.forEach(BrokerProcess::close);
        for (int i = 0; i < PUBLISHERS; i++) {
            PacedPublisher publisher = publishers.get(i);
            JournalSubscriber subscriber = subscribers.get(i);
            subscriber.join(PATIENCE.toMillis());
            System.out.printf(
                    Locale.ROOT,
                    "[cluster] rolling restart: %d acknowledged, %d reconnects, longest gap %.2f s%n",
                    publisher.acknowledged(),
                    publisher.reconnects(),
                    publisher.longest().toMillis() / 1e3);
            ClientFailures.assertNone(publisher, publisher.failure());
            assertThat(publisher.longest()).isLessThanOrEqualTo(LONGEST_GAP);
            ClientFailures.assertNone(subscriber, subscriber.failure());
            assertThat(subscriber.received())
                    .containsAll(
                            IntStream.range(0, publisher.acknowledged()).boxed().toList());
        }
        assertThat(heard).allSatisfy(publisher -> {
            ClientFailures.assertNone(publisher, publisher.failure());
            assertThat(publisher.longest()).isLessThanOrEqualTo(LONGEST_GAP);
        });
        for (GapListener listener : listeners) {
            System.out.printf(
                    Locale.ROOT,
                    "[cluster] rolling restart: %d received, %d reconnects, longest gap %.2f s%n",
                    listener.received(),
                    listener.reconnects(),
                    listener.longest().toMillis() / 1e3);
            ClientFailures.assertNone(listener, listener.failure());
            assertThat(listener.received()).isPositive();
            assertThat(listener.longest()).isLessThanOrEqualTo(LONGEST_GAP);
        }
        assertThat(publishers).anyMatch(publisher -> publisher.reconnects() > 0);
        assertThat(listeners).anyMatch(listener -> listener.reconnects() > 0);
    }

    /** Until each node has the routes of the other: a node may say that it is ready while it has not found the other one yet. */
    private void awaitRoutes() {
        for (int node = 0; node < 2; node++) {
            InetSocketAddress here = Endpoint.loopback(ports.get(node));
            try (RawClient probe = RawClient.to(here, ProtocolVersion.MQTT_5).deadline(PATIENCE)) {
                probe.connect("probe-" + node);
                for (int i = 0; i < PUBLISHERS; i++) {
                    String topic = "load-" + i;
                    await().atMost(PATIENCE).until(() -> {
                        probe.send(io.smqtt.test.packet.PublishBytes.to(topic)
                                .payload("-1")
                                .qos(1, 1));
                        return probe.expect(io.netty.handler.codec.mqtt.MqttMessageType.PUBACK)
                                        .reasonCode()
                                == 0;
                    });
                }
            }
        }
    }

    private static void awaitProgress(List<PacedPublisher> publishers) {
        for (PacedPublisher publisher : publishers) {
            int before = publisher.acknowledged();
            await().atMost(PATIENCE)
                    .until(() -> publisher.acknowledged() > before + 100 || publisher.failure() != null);
            ClientFailures.assertNone(publisher, publisher.failure());
        }
    }
}
