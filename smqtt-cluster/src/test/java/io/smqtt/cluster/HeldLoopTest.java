// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.EventExecutor;
import io.smqtt.cluster.jgroups.JGroupsTransport;
import io.smqtt.config.ClusterConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.session.QueueBudget;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClusterTransport;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.spi.Ticker;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.topic.SharedFilter;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A node whose loop is held up, and what others send to it by real channels meanwhile. */
class HeldLoopTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int PEER_BYTES = 1_000_000;
    private static final int LENGTH = 8_000;
    private static final int FRAMES = 4_000;

    /** A transport without a node behind it. */
    private static final class Sender implements ClusterTransport.Handler {

        private final JGroupsTransport transport;
        private final String nodeId;
        private final Set<ClusterTransport.Peer> peers = ConcurrentHashMap.newKeySet();

        Sender(String nodeId, int port, List<Integer> seeds) {
            this.nodeId = nodeId;
            this.transport = new JGroupsTransport(config(port, seeds), nodeId);
            transport.start(this).block(PATIENCE);
        }

        /** The message with this number, which is retained; false if the transport does not take it now. */
        boolean send(ClusterTransport.Peer to, int number) {
            ApplicationMessage message = ApplicationMessage.builder(nodeId)
                    .payload(number + " ".repeat(LENGTH))
                    .retain(true)
                    .build();
            Frame frame =
                    new Frame.RetainedUpdate(List.of(RetainedRow.of(new RetainedVersion(number + 2, nodeId), message)));
            return transport.send(to, FrameCodec.encode(new NodeIdentity(nodeId, 1), frame, System.nanoTime()), true);
        }

        @Override
        public void up(ClusterTransport.Peer peer) {
            peers.add(peer);
        }

        @Override
        public void down(ClusterTransport.Peer peer) {
            peers.remove(peer);
        }

        @Override
        public void received(ClusterTransport.Peer from, byte[] frame) {}
    }

    /** Remembers what it is to retain. */
    private static final class Recorder implements LocalPart {

        @Override
        public void rewriteRetained(String topic) {
            throw new AssertionError("this test retains nothing");
        }

        @Override
        public void noteRetained(byte[] note, List<String> topics) {
            throw new AssertionError("this test retains nothing");
        }

        private final List<Integer> retained = new CopyOnWriteArrayList<>();

        @Override
        public RemoteRoutes join(String nodeId, PeerOutbox outbox) {
            return row -> {};
        }

        @Override
        public void deliver(List<InboundMessage> messages) {}

        @Override
        public void redispatch(OutboundMessage message, SharedFilter group) {}

        @Override
        public void handOver(SharedFilter group, String nodeId) {}

        @Override
        public boolean canTakeMore(SharedFilter group) {
            return false;
        }

        @Override
        public boolean holds(SharedFilter group) {
            return false;
        }

        @Override
        public void retain(ApplicationMessage message, Runnable refused) {
            retained.add(Integer.parseInt(message.payload().asString().trim()));
        }

        @Override
        public void afterRouted(Runnable done) {}
    }

    private final EventExecutor loop = new DefaultEventExecutor();
    private final Recorder recorder = new Recorder();
    private final List<JGroupsTransport> transports = new ArrayList<>();
    private final List<Integer> ports = LoopbackPorts.some(3);
    private ClusterNode node;
    private Sender sender;

    private static ClusterConfig config(int port, List<Integer> seeds) {
        return ClusterConfig.builder()
                .enabled(true)
                .bind("127.0.0.1:" + port)
                .seeds(seeds.stream().map(seed -> "127.0.0.1:" + seed).toList())
                .build();
    }

    private static LocalClients nobody() {
        return (LocalClients) Proxy.newProxyInstance(
                LocalClients.class.getClassLoader(),
                new Class<?>[] {LocalClients.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("clientIds")) {
                        return Collections.emptyIterator();
                    }
                    return method.getReturnType() == long.class ? LocalClients.NONE : null;
                });
    }

    @BeforeEach
    void start() {
        JGroupsTransport transport = new JGroupsTransport(config(ports.get(0), ports), "held");
        node = new ClusterNode(
                new NodeIdentity("held", 1),
                transport,
                loop,
                Ticker.SYSTEM,
                System::currentTimeMillis,
                ClusterSettings.defaults(),
                recorder,
                nobody(),
                BrokerObserver.NONE,
                new QueueBudget(Long.MAX_VALUE),
                new Parks(
                        new ParkLimits(PATIENCE, 1 << 20, false),
                        null,
                        BrokerObserver.NONE,
                        Ticker.SYSTEM::nanoTime,
                        new ParkLog(Ticker.SYSTEM::nanoTime, alarm -> {})),
                new NodeMetadata("test", "held", 1, false, ""),
                new FrameGate(PEER_BYTES, 8 * PEER_BYTES),
                address -> {});
        node.start();
        transport.start(node).block(PATIENCE);
        transports.add(transport);
        sender = join("sender", 1);
        await().atMost(PATIENCE).until(() -> sender.peers.size() == 1);
        sender.send(sender.peers.iterator().next(), 0);
        await().atMost(PATIENCE).until(() -> recorder.retained.contains(0));
    }

    @AfterEach
    void stop() {
        node.leaving();
        transports.forEach(transport -> transport.stop().block(PATIENCE));
        node.stop();
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }

    private Sender join(String nodeId, int index) {
        Sender joined = new Sender(nodeId, ports.get(index), ports);
        transports.add(joined.transport);
        return joined;
    }

    /** Holds the loop up until the latch is counted down. */
    private CountDownLatch hold() throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        loop.execute(() -> {
            held.countDown();
            boolean interrupted = false;
            while (goesOn.getCount() > 0) {
                try {
                    goesOn.await();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        });
        assertThat(held.await(30, TimeUnit.SECONDS)).isTrue();
        return goesOn;
    }

    @Tag("slow")
    @Test
    void whatWaitsIsBoundedAndAllOfItComesInOrderAfterwards() throws Exception {
        ClusterTransport.Peer peer = sender.peers.iterator().next();
        CountDownLatch goesOn = hold();
        AtomicBoolean refused = new AtomicBoolean();
        Thread sending = new Thread(() -> {
            for (int i = 1; i < FRAMES; i++) {
                int number = i;
                await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(() -> {
                    boolean taken = sender.send(peer, number);
                    refused.set(refused.get() || !taken);
                    return taken;
                });
            }
        });
        sending.start();
        await().atMost(PATIENCE).until(() -> node.gate().waiting() == 1);
        await().atMost(PATIENCE).until(refused::get); // the sender has all that it may hold, too
        assertThat(node.waitingBytes()).isBetween(PEER_BYTES / 2L, (long) PEER_BYTES);

        Sender late = join("late", 2); // views, heartbeats and other nodes do not wait
        await().atMost(PATIENCE).until(() -> late.peers.size() == 2 && sender.peers.size() == 2);
        assertThat(node.waitingBytes()).isLessThanOrEqualTo(2L * PEER_BYTES);
        assertThat(recorder.retained).hasSize(1);
        goesOn.countDown();

        sending.join(PATIENCE.toMillis());
        await().atMost(PATIENCE).until(() -> node.waitingBytes() == 0 && recorder.retained.size() == FRAMES);
        assertThat(recorder.retained)
                .isEqualTo(IntStream.range(0, FRAMES).boxed().toList());
        assertThat(node.counters().refusedFrames()).isZero();
    }

    @Test
    void aNodeThatStopsKeepsNoThreadOfTheTransportWaiting() throws Exception {
        ClusterTransport.Peer peer = sender.peers.iterator().next();
        CountDownLatch goesOn = hold();
        for (int i = 1; i < PEER_BYTES / LENGTH * 2; i++) {
            assertThat(sender.send(peer, i)).isTrue();
        }
        await().atMost(PATIENCE).until(() -> node.gate().waiting() == 1);

        node.leaving();

        await().atMost(PATIENCE).until(() -> node.gate().waiting() == 0);
        transports.get(0).stop().block(PATIENCE);
        await().atMost(PATIENCE).until(sender.peers::isEmpty);
        goesOn.countDown();
    }
}
