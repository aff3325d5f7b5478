// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.channel.EventLoop;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.ListenerConfig;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

final class ListenersTest {

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void bothTransportsCarryConnections(boolean nativeTransport) throws IOException {
        Map<String, ListenerConfig> one = Map.of("one", Configs.tcp().build());
        try (TestListeners broker = new TestListeners(one, LimitsConfig.defaults(), nativeTransport)) {
            broker.listeners.bind().block(TestListeners.PATIENCE);
            try (WireClient client = WireClient.tcp(broker.address())) {
                assertThat(client.echo("x")).isEqualTo("x");
                assertThat(broker.channels.get(0).getClass().getSimpleName())
                        .isEqualTo(nativeTransport ? "EpollSocketChannel" : "NioSocketChannel");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0", "127.0.0.1", "::", "::1"})
    void theAddressIsTheConfiguredHostWithThePortInUse(String host) throws IOException {
        Map<String, ListenerConfig> one = Map.of("one", Configs.tcp().host(host).build());
        try (TestListeners broker = new TestListeners(one, LimitsConfig.defaults(), true)) {
            broker.listeners.bind().block(TestListeners.PATIENCE);
            assertThat(broker.address().getAddress()).isEqualTo(InetAddress.getByName(host));
            try (Socket client =
                    new Socket(broker.address().getAddress(), broker.address().getPort())) {
                assertThat(client.isConnected()).isTrue();
            }
        }
    }

    @Test
    void nothingStaysBoundIfOneListenerFails() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            Map<String, ListenerConfig> both = TestListeners.named(
                    "free", Configs.tcp().build(),
                    "taken", Configs.tcp().port(taken.getLocalPort()).build());
            try (TestListeners broker = new TestListeners(both, LimitsConfig.defaults(), true)) {
                assertThatThrownBy(() -> broker.listeners.bind().block(TestListeners.PATIENCE))
                        .isInstanceOfSatisfying(BindFailedException.class, failure -> {
                            assertThat(failure.listener()).isEqualTo("taken");
                            assertThat(failure.address()).isEqualTo("127.0.0.1:" + taken.getLocalPort());
                            assertThat(failure).hasCauseInstanceOf(IOException.class);
                            assertThat(failure).hasMessageContaining("taken").hasMessageContaining("in use");
                        });
                InetSocketAddress free = broker.address("free");
                assertThatThrownBy(() -> WireClient.tcp(free)).isInstanceOf(ConnectException.class);
            }
        }
    }

    @Test
    void anUnknownHostNamesTheListener() {
        assertThatThrownBy(() -> TestListeners.bound(
                        Configs.tcp().host("no-such-host.invalid").build()))
                .isInstanceOf(BindFailedException.class)
                .hasMessageContaining("one")
                .hasMessageContaining("no-such-host.invalid");
    }

    @ParameterizedTest
    @CsvSource({"0.0.0.0, 127.0.0.1", "::, 127.0.0.1", "::, ::1", "::1, ::1", "127.0.0.1, 127.0.0.1"})
    void bothFamiliesOfAddressesAreServed(String host, String from) throws IOException {
        for (boolean nativeTransport : new boolean[] {true, false}) {
            Map<String, ListenerConfig> one =
                    Map.of("one", Configs.tcp().host(host).build());
            try (TestListeners broker = new TestListeners(one, LimitsConfig.defaults(), nativeTransport)) {
                broker.listeners.bind().block(TestListeners.PATIENCE);
                InetAddress target = InetAddress.getByName(from);
                try (WireClient client =
                        new WireClient(new Socket(target, broker.address().getPort()))) {
                    assertThat(client.echo("x")).isEqualTo("x");
                    InetAddress seen = broker.accepted.get(0).remoteAddress().getAddress();
                    assertThat(seen.isLoopbackAddress()).isTrue();
                    assertThat(seen instanceof Inet4Address).isEqualTo(target instanceof Inet4Address);
                }
            }
        }
    }

    @Test
    void concurrentStartsBindAPortOnce() throws IOException {
        try (TestPort port = new TestPort();
                TestListeners broker =
                        TestListeners.bound(Configs.tcp().port(port.number()).build())) {
            for (int i = 0; i < 20; i++) {
                Mono<Void> stop = broker.listeners.stop("one");
                Mono<Void> start = broker.listeners.start("one");
                Flux.merge(stop, start, start, stop, start, start).then().block(TestListeners.PATIENCE);
                assertThat(broker.listeners.status().get(0).running()).isTrue();
            }
        }
    }

    @Test
    void aStartThatNobodyWaitsForGoesOn() {
        try (TestListeners broker = TestListeners.bound(Configs.tcp().build())) {
            broker.listeners.stop("one").block(TestListeners.PATIENCE);
            broker.listeners.start("one").subscribe().dispose();
            await().atMost(TestListeners.PATIENCE)
                    .until(() -> broker.listeners.status().get(0).running());
        }
    }

    @Test
    void stoppedListenersCanBeStoppedAndClosedAgain() throws IOException {
        try (TestListeners broker = TestListeners.bound(Configs.tcp().build())) {
            InetSocketAddress address = broker.address();
            broker.listeners.stopAccepting().block(TestListeners.PATIENCE);
            broker.listeners.stopAccepting().block(TestListeners.PATIENCE);
            broker.listeners.close().block(TestListeners.PATIENCE);
            broker.listeners.close().block(TestListeners.PATIENCE);
            assertThatThrownBy(() -> WireClient.tcp(address)).isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void twoBrokersShareNothing() throws IOException {
        try (TestListeners first = TestListeners.bound(Configs.tcp().build(), Configs.limits(1, 10, 10, 0));
                TestListeners second = TestListeners.bound(Configs.tcp().build(), Configs.limits(1, 10, 10, 0))) {
            assertThat(first.eventLoops.all()).doesNotContainAnyElementsOf(second.eventLoops.all());
            try (WireClient one = WireClient.tcp(first.address());
                    WireClient two = WireClient.tcp(second.address())) {
                assertThat(one.echo("1")).isEqualTo("1");
                assertThat(two.echo("2")).isEqualTo("2");
                first.listeners.close().block(TestListeners.PATIENCE);
                first.eventLoops.dispose().block(TestListeners.PATIENCE);
                assertThat(one.ended()).isTrue();
                assertThat(two.echo("still")).isEqualTo("still");
            }
        }
    }

    @Test
    void disposedEventLoopsEndTheirThreadsAndConnections() throws IOException {
        TestListeners broker = TestListeners.bound(Configs.tcp().build());
        try (WireClient client = WireClient.tcp(broker.address())) {
            assertThat(client.echo("x")).isEqualTo("x");
            List<EventLoop> loops = broker.eventLoops.all();
            broker.eventLoops.dispose().block(TestListeners.PATIENCE);
            broker.eventLoops.dispose().block(TestListeners.PATIENCE);
            assertThat(client.ended()).isTrue();
            assertThat(loops).allMatch(EventLoop::isTerminated);
            broker.listeners.close().block(TestListeners.PATIENCE);
        }
    }

    @Test
    void anEventLoopRefusesToBeBlocked() {
        EventLoops loops = EventLoops.start(1, false);
        try {
            assertThat(loops.all()).hasSize(1).containsExactly(loops.next());
            assertThatThrownBy(() -> loops.next()
                            .submit(() -> reactor.core.publisher.Mono.never().block(Duration.ofSeconds(1)))
                            .get())
                    .hasRootCauseInstanceOf(IllegalStateException.class);
        } finally {
            loops.dispose().block(TestListeners.PATIENCE);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "2, 100, 100, 100, limits.max-connections",
        "100, 2, 100, 100, listeners.one.max-connections",
        "100, 100, 100, 2, limits.max-pending-connections-per-address",
    })
    void aConnectionOverALimitIsClosedAndTheLimitNamed(
            int total, int listener, int pending, int pendingPerAddress, String key) throws IOException {
        ListenerConfig config = Configs.tcp().maxConnections(listener).build();
        LimitsConfig limits = Configs.limits(total, pending, pendingPerAddress, 0);
        try (TestListeners broker = TestListeners.bound(config, limits)) {
            broker.connectAtOnce = false;
            WireClient first = WireClient.tcp(broker.address());
            try (WireClient second = WireClient.tcp(broker.address())) {
                assertThat(first.echo("x")).isEqualTo("x");
                assertThat(second.echo("x")).isEqualTo("x");
                try (WireClient third = WireClient.tcp(broker.address())) {
                    assertThat(third.ended()).isTrue();
                    assertThat(broker.refused).containsExactly(key);
                }
                first.close();
                await().atMost(TestListeners.PATIENCE)
                        .until(() -> !broker.channels.get(0).isOpen());
                try (WireClient fourth = WireClient.tcp(broker.address())) {
                    assertThat(fourth.echo("x")).isEqualTo("x");
                }
                assertThat(second.echo("y")).isEqualTo("y");
            }
        }
    }

    @Test
    void theOldestUnfinishedConnectionMakesRoomForOneMore() throws IOException {
        try (TestListeners broker = TestListeners.bound(Configs.tcp().build(), Configs.limits(100, 4, 100, 0))) {
            broker.connectAtOnce = false;
            List<WireClient> clients = new ArrayList<>();
            for (int i = 0; i < 6; i++) { // the event loops take turns
                clients.add(WireClient.tcp(broker.address()));
                assertThat(clients.get(i).echo("x")).isEqualTo("x");
            }
            assertThat(clients.get(0).ended()).isTrue();
            assertThat(clients.get(1).ended()).isTrue();
            assertThat(broker.refused)
                    .containsOnly("limits.max-pending-connections")
                    .hasSize(2);
            assertThat(broker.listeners.pendingCount()).isEqualTo(4);
            for (WireClient client : clients.subList(2, 6)) {
                assertThat(client.echo("y")).isEqualTo("y");
                client.close();
            }
            await().atMost(TestListeners.PATIENCE).until(() -> broker.listeners.pendingCount() == 0);
            assertThat(broker.listeners.pendingBytes()).isZero();
        }
    }

    @Test
    void whoseConnectIsCompleteMakesNoRoomForAnAddressThatHoldsAsMuch() throws IOException {
        try (TestListeners broker = TestListeners.bound(Configs.tcp().build(), Configs.limits(100, 2, 100, 0))) {
            broker.connectAtOnce = false;
            try (WireClient first = from("127.0.0.2", broker);
                    WireClient second = from("127.0.0.3", broker)) {
                assertThat(first.echo("x") + second.echo("x")).isEqualTo("xx");
                complete(broker, 0);
                complete(broker, 1);
                try (WireClient third = from("127.0.0.4", broker)) {
                    assertThat(third.ended()).isTrue();
                }
                assertThat(broker.refused).containsExactly("limits.max-pending-connections");
                assertThat(first.echo("y") + second.echo("y")).isEqualTo("yy");
            }
        }
    }

    @Test
    void withinOneAddressTheOldestGoesWhetherItsConnectIsCompleteOrNot() throws IOException {
        try (TestListeners broker = TestListeners.bound(Configs.tcp().build(), Configs.limits(100, 4, 100, 0))) {
            broker.connectAtOnce = false;
            List<WireClient> clients = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                clients.add(WireClient.tcp(broker.address()));
                assertThat(clients.get(i).echo("x")).isEqualTo("x");
                if (i < 2) {
                    complete(broker, i); // 2 and 3 are not, and are younger
                }
            }
            assertThat(clients.get(0).ended()).isTrue();
            assertThat(broker.refused).containsExactly("limits.max-pending-connections");
            for (WireClient client : clients.subList(1, 5)) {
                assertThat(client.echo("y")).isEqualTo("y");
                client.close();
            }
        }
    }

    @Test
    void anAddressThatHoldsMoreMakesRoomAlsoWhereItsConnectionsWait() throws IOException {
        try (TestListeners broker = TestListeners.bound(Configs.tcp().build(), Configs.limits(100, 5, 5, 0))) {
            broker.connectAtOnce = false;
            List<WireClient> clients = new ArrayList<>();
            for (int i = 0; i < 5; i++) { // the event loops take turns
                clients.add(from(i == 3 ? "127.0.0.2" : "127.0.0.1", broker));
                assertThat(clients.get(i).echo("x")).isEqualTo("x");
                if (i != 3) {
                    complete(broker, i);
                }
            }
            clients.add(from("127.0.0.3", broker)); // on the event loop of 1 and 3
            assertThat(clients.get(5).echo("x")).isEqualTo("x");
            assertThat(clients.remove(1).ended()).isTrue();
            assertThat(broker.refused).containsExactly("limits.max-pending-connections");
            for (WireClient client : clients) {
                assertThat(client.echo("y")).isEqualTo("y");
                client.close();
            }
        }
    }

    @Test
    void whatUnfinishedConnectionsHoldIsBoundedAndTheOldestGoFirst() throws IOException {
        LimitsConfig limits = holding(20_000, 100, 100);
        try (TestListeners broker = TestListeners.bound(Configs.tcp().build(), limits)) {
            broker.connectAtOnce = false;
            List<WireClient> clients = new ArrayList<>();
            for (int i = 0; i < 7; i++) {
                clients.add(WireClient.tcp(broker.address()));
                assertThat(clients.get(i).echo("x".repeat(4_000))).hasSize(4_000);
                assertThat(broker.listeners.pendingBytes()).isLessThanOrEqualTo(20_000);
            }
            for (WireClient client : clients.subList(0, 2)) {
                assertThat(client.ended()).isTrue();
            }
            assertThat(broker.refused).containsOnly("limits.max-pending-bytes").hasSize(2);
            broker.channels
                    .get(6)
                    .eventLoop()
                    .submit(broker.accepted.get(6)::connected)
                    .syncUninterruptibly();
            assertThat(broker.listeners.pendingBytes()).isEqualTo(16_000); // who is let in does not count
            assertThat(clients.get(6).echo("y".repeat(50_000))).hasSize(50_000);
            assertThat(broker.refused).hasSize(2);
            for (WireClient client : clients) {
                client.close();
            }
            await().atMost(TestListeners.PATIENCE).until(() -> broker.listeners.pendingBytes() == 0);
        }
    }

    @Test
    void anAddressOverItsShareMakesRoomItselfAndNoStrangerGoes() throws IOException {
        try (TestListeners broker = TestListeners.bound(Configs.tcp().build(), holding(80_000, 100, 25))) {
            broker.connectAtOnce = false;
            try (WireClient stranger = from("127.0.0.2", broker)) {
                assertThat(stranger.echo("x")).isEqualTo("x");
                List<WireClient> clients = new ArrayList<>();
                for (int i = 0; i < 6; i++) {
                    clients.add(WireClient.tcp(broker.address()));
                    assertThat(clients.get(i).echo("x".repeat(5_000))).hasSize(5_000);
                    complete(broker, i + 1);
                }
                assertThat(clients.get(0).ended()).isTrue(); // those that wait hold the share, the oldest go
                assertThat(clients.get(1).ended()).isTrue();
                assertThat(broker.refused)
                        .containsOnly("limits.max-pending-bytes")
                        .hasSize(2);
                assertThat(stranger.echo("y")).isEqualTo("y");
                for (WireClient client : clients) {
                    client.close();
                }
            }
            await().atMost(TestListeners.PATIENCE).until(() -> broker.listeners.pendingCount() == 0);
            assertThat(broker.listeners.pendingBytes()).isZero();
        }
    }

    @Test
    void whoWaitsMakesRoomForAnAddressThatHoldsLess() throws IOException {
        try (TestListeners broker = TestListeners.bound(Configs.tcp().build(), Configs.limits(100, 4, 4, 0))) {
            broker.connectAtOnce = false;
            List<WireClient> clients = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                clients.add(WireClient.tcp(broker.address()));
                assertThat(clients.get(i).echo("x")).isEqualTo("x");
                complete(broker, i);
            }
            try (WireClient other = from("127.0.0.2", broker)) {
                assertThat(other.echo("y")).isEqualTo("y");
                assertThat(clients.get(0).ended()).isTrue();
                assertThat(broker.refused).containsExactly("limits.max-pending-connections");
                assertThat(broker.listeners.pendingCount()).isEqualTo(4);
            }
            for (WireClient client : clients) {
                client.close();
            }
        }
    }

    @Test
    void whoIsOverTheLimitOfItsAddressHasNobodyElseClosed() throws IOException {
        try (TestListeners broker = TestListeners.bound(Configs.tcp().build(), Configs.limits(100, 4, 2, 0))) {
            broker.connectAtOnce = false;
            List<WireClient> clients = new ArrayList<>();
            for (String address : List.of("127.0.0.2", "127.0.0.3", "127.0.0.1", "127.0.0.1")) {
                clients.add(from(address, broker));
                assertThat(clients.get(clients.size() - 1).echo("x")).isEqualTo("x");
            }
            for (int i = 0; i < 4; i++) {
                try (WireClient more = from("127.0.0.1", broker)) {
                    assertThat(more.ended()).isTrue();
                }
            }
            assertThat(broker.refused)
                    .containsOnly("limits.max-pending-connections-per-address")
                    .hasSize(4);
            for (WireClient client : clients) {
                assertThat(client.echo("y")).isEqualTo("y");
                client.close();
            }
        }
    }

    @Test
    void anEventLoopThatHoldsLittleHasTheOthersMakeRoom() throws IOException {
        LimitsConfig limits = holding(20_000, 100, 100);
        try (TestListeners broker = TestListeners.bound(Configs.tcp().build(), limits)) {
            broker.connectAtOnce = false;
            List<WireClient> clients = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                clients.add(WireClient.tcp(broker.address()));
                assertThat(clients.get(i).echo("x")).isEqualTo("x");
            }
            clients.get(0).echo("x".repeat(9_900)); // the first and third one share an event loop
            clients.get(2).echo("x".repeat(9_900));
            clients.get(1).close();
            await().atMost(TestListeners.PATIENCE)
                    .until(() -> !broker.channels.get(1).isOpen());
            assertThat(clients.get(3).echo("z".repeat(500))).hasSize(500);
            assertThat(clients.get(0).ended()).isTrue();
            assertThat(clients.get(2).echo("y") + clients.get(3).echo("y")).isEqualTo("yy");
            clients.get(2).close();
            clients.get(3).close();
        }
    }

    @Test
    void aConnectedClientIsNotPendingAnyMore() throws IOException {
        List<WireClient> clients = new ArrayList<>();
        try (TestListeners broker = TestListeners.bound(Configs.tcp().build(), Configs.limits(100, 1, 1, 0))) {
            for (int i = 0; i < 5; i++) {
                clients.add(WireClient.tcp(broker.address()));
                assertThat(clients.get(i).echo("x")).isEqualTo("x");
            }
            assertThat(broker.refused).isEmpty();
        } finally {
            for (WireClient client : clients) {
                client.close();
            }
        }
    }

    @Test
    void moreConnectionsPerSecondThanAllowedAreRefused() throws IOException {
        try (TestListeners broker = TestListeners.bound(Configs.tcp().build(), Configs.limits(100, 100, 100, 3))) {
            for (int i = 0; i < 12; i++) {
                try (WireClient client = WireClient.tcp(broker.address())) {
                    client.socket.shutdownOutput();
                    client.ended();
                }
            }
            assertThat(broker.refused).isNotEmpty().containsOnly("limits.connect-rate-per-address");
            await().atMost(TestListeners.PATIENCE).until(() -> {
                try (WireClient client = WireClient.tcp(broker.address())) {
                    return client.echo("x").equals("x");
                } catch (IOException e) {
                    return false;
                }
            });
        }
    }

    @Test
    void connectionsAboveTheRateOfAListenerWaitAndNoneIsRefused() throws IOException {
        ListenerConfig config = Configs.tcp().build().toBuilder()
                .maxConnectRate(5)
                .maxConnectBurst(1)
                .build();
        try (TestListeners broker = TestListeners.bound(config)) {
            long began = System.nanoTime();
            for (int i = 0; i < 6; i++) {
                try (WireClient client = WireClient.tcp(broker.address())) {
                    assertThat(client.echo("x")).isEqualTo("x");
                }
            }
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(Duration.ofMillis(700));
            assertThat(broker.refused).isEmpty();
            assertThat(broker.listeners.acceptPauses()).isPositive();
        }
    }

    @Test
    void whileTheBrokerIsOverloadedConnectionsWaitAndNoneIsRefused() throws IOException {
        try (TestListeners broker = TestListeners.bound(Configs.tcp().build())) {
            broker.overloadLevel = 1;
            long began = System.nanoTime();
            for (int i = 0; i < 6; i++) {
                try (WireClient client = WireClient.tcp(broker.address())) {
                    assertThat(client.echo("x")).isEqualTo("x");
                }
            }
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(Duration.ofMillis(150));
            assertThat(broker.refused).isEmpty();
            assertThat(broker.listeners.acceptPauses()).isGreaterThanOrEqualTo(2);
        }
    }

    @Test
    void theDeadlineCanBeHandledByTheConnection() throws IOException {
        ListenerConfig config =
                Configs.tcp().connectTimeout(Duration.ofMillis(300)).build();
        try (TestListeners broker = TestListeners.bound(config)) {
            broker.connectAtOnce = false;
            List<String> told = new java.util.concurrent.CopyOnWriteArrayList<>();
            try (WireClient client = WireClient.tcp(broker.address())) {
                await().atMost(TestListeners.PATIENCE).until(() -> broker.channels.size() == 1);
                io.netty.channel.Channel channel = broker.channels.get(0);
                channel.eventLoop()
                        .execute(() -> broker.accepted.get(0).onConnectTimeout(() -> {
                            told.add("late");
                            channel.close();
                        }));
                assertThat(client.ended()).isTrue();
                assertThat(told).containsExactly("late");
            }
        }
    }

    @Test
    void acceptingPausesAndResumesWhenThereAreNoDescriptorsLeft() throws IOException {
        try (TestListeners broker = TestListeners.bound(Configs.tcp().build());
                WireClient client = WireClient.tcp(broker.address())) {
            assertThat(client.echo("x")).isEqualTo("x");
            io.netty.channel.Channel server = broker.channels.get(0).parent();
            server.eventLoop()
                    .submit(() -> {
                        server.pipeline().fireExceptionCaught(new IOException("accept: Too many open files"));
                    })
                    .syncUninterruptibly();
            assertThat(server.config().isAutoRead()).isFalse();
            try (WireClient later = WireClient.tcp(broker.address())) {
                assertThat(later.echo("y")).isEqualTo("y"); // after about a second
            }
            assertThat(server.config().isAutoRead()).isTrue();
        }
    }

    private static LimitsConfig holding(long bytes, int pending, int pendingPerAddress) {
        return Configs.limits(100, pending, pendingPerAddress, 0).toBuilder()
                .maxPendingBytes(bytes)
                .build();
    }

    private static void complete(TestListeners broker, int index) {
        broker.channels
                .get(index)
                .eventLoop()
                .submit(broker.accepted.get(index)::connectComplete)
                .syncUninterruptibly();
    }

    private static WireClient from(String address, TestListeners broker) throws IOException {
        InetAddress target = InetAddress.getByName("127.0.0.1");
        return new WireClient(new Socket(target, broker.address().getPort(), InetAddress.getByName(address), 0));
    }
}
