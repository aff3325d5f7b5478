// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What every kind of listener does; TCP, TLS, WebSocket and secure WebSocket each run it. */
interface ListenerContract {

    /** Of a megabyte: more than the sockets' buffers hold. */
    int BLOCKS = 24;

    Configs config();

    WireClient connect(InetSocketAddress server) throws Exception;

    List<String> handlersOnceConnected();

    @Test
    default void bytesComeThroughBothWays() throws Exception {
        try (TestListeners broker = TestListeners.bound(config().build());
                WireClient client = connect(broker.address())) {
            assertThat(client.echo("hello")).isEqualTo("hello");
            assertThat(broker.opened).containsExactly("one");
            AcceptedConnection accepted = broker.accepted.get(0);
            assertThat(accepted.listener()).isEqualTo("one");
            assertThat(accepted.remoteAddress())
                    .isEqualTo(new InetSocketAddress("127.0.0.1", client.socket.getLocalPort()));
            assertThat(accepted.acceptedNanos()).isLessThanOrEqualTo(System.nanoTime());
        }
    }

    @Test
    default void bytesMayComeOneByOne() throws Exception {
        byte[] sent = random(300);
        try (TestListeners broker = TestListeners.bound(config().build());
                WireClient client = connect(broker.address())) {
            client.sendBytewise(sent);
            assertThat(client.receive(sent.length)).isEqualTo(sent);
        }
    }

    @Test
    default void largeContentComesThroughUnchanged() throws Exception {
        byte[] sent = random(700_000);
        try (TestListeners broker = TestListeners.bound(config().build());
                WireClient client = connect(broker.address())) {
            CompletableFuture<Void> sending = sending(client, sent);
            assertThat(client.receive(sent.length)).isEqualTo(sent);
            sending.join();
        }
    }

    @Test
    default void manyConnectionsAreCarriedAtOnce() throws Exception {
        List<WireClient> clients = new ArrayList<>();
        try (TestListeners broker = TestListeners.bound(config().build())) {
            for (int i = 0; i < 50; i++) {
                clients.add(connect(broker.address()));
            }
            for (int i = 0; i < clients.size(); i++) {
                assertThat(clients.get(i).echo("client " + i)).isEqualTo("client " + i);
            }
            assertThat(broker.channels)
                    .extracting(channel -> channel.eventLoop())
                    .containsAll(broker.eventLoops.all());
        } finally {
            for (WireClient client : clients) {
                client.close();
            }
        }
    }

    @Test
    default void onlyTheHandlersThatAreNeededStayInThePipeline() throws Exception {
        try (TestListeners broker = TestListeners.bound(config().build());
                WireClient client = connect(broker.address())) {
            assertThat(client.echo("x")).isEqualTo("x");
            List<String> names =
                    new ArrayList<>(broker.channels.get(0).pipeline().names());
            names.removeIf(name -> name.startsWith("DefaultChannelPipeline$TailContext"));
            assertThat(names).isEqualTo(handlersOnceConnected());
        }
    }

    @Test
    default void nothingIsReadThatWasNotAskedFor() throws Exception {
        byte[] sent = random(1_000_000);
        try (TestListeners broker = TestListeners.bound(config().build());
                WireClient client = connect(broker.address())) {
            assertThat(client.echo("x")).isEqualTo("x");
            Echo echo = broker.channels.get(0).pipeline().get(Echo.class);
            CompletableFuture<Void> sending = CompletableFuture.runAsync(
                    () -> {
                        for (int i = 0; i < BLOCKS; i++) {
                            sendAll(client, sent);
                        }
                    },
                    THREADS);
            await().atMost(TestListeners.PATIENCE)
                    .until(() -> !broker.channels.get(0).isWritable());
            // the client does not read, so the echo stops reading: what the broker holds stays small
            long[] before = {-1};
            await().pollInterval(Duration.ofMillis(150))
                    .atMost(TestListeners.PATIENCE)
                    .until(() -> {
                        boolean steady = before[0] == echo.bytesRead.get();
                        before[0] = echo.bytesRead.get();
                        return steady;
                    });
            assertThat(sending).isNotDone();
            assertThat(echo.bytesRead.get()).isLessThan((long) BLOCKS * sent.length);
            assertThat(broker.channels.get(0).unsafe().outboundBuffer().totalPendingWriteBytes())
                    .isLessThan(4_000_000);
            for (int i = 0; i < BLOCKS; i++) {
                assertThat(Arrays.equals(client.receive(sent.length), sent)).isTrue();
            }
            sending.join();
        }
    }

    @Test
    default void theClientMayClose() throws Exception {
        try (TestListeners broker = TestListeners.bound(config().build())) {
            try (WireClient client = connect(broker.address())) {
                assertThat(client.echo("x")).isEqualTo("x");
            }
            await().atMost(TestListeners.PATIENCE)
                    .until(() -> !broker.channels.get(0).isOpen());
            assertThat(broker.closedEarly).isEmpty();
        }
    }

    @Test
    default void theBrokerMayCloseAfterItsLastBytes() throws Exception {
        try (TestListeners broker = TestListeners.bound(config().build());
                WireClient client = connect(broker.address())) {
            client.send(new byte[] {1, (byte) 0xFF});
            assertThat(client.receive(2)).containsExactly(1, 0xFF);
            client.in.readAllBytes(); // a close frame may follow
            assertThat(client.ended()).isTrue();
        }
    }

    @Test
    default void aConnectionWithoutConnectIsClosedAtTheDeadline() throws Exception {
        Configs config = config().connectTimeout(Duration.ofMillis(700));
        try (TestListeners broker = TestListeners.bound(config.build())) {
            broker.connectAtOnce = false;
            try (WireClient client = connect(broker.address())) {
                client.in.readAllBytes();
                assertThat(client.ended()).isTrue();
            }
        }
    }

    @Test
    default void aSilentConnectionIsClosedAtTheDeadlineWithoutAnyHandshake() throws Exception {
        Configs config = config().connectTimeout(Duration.ofMillis(200));
        try (TestListeners broker = TestListeners.bound(config.build())) {
            broker.connectAtOnce = false;
            try (WireClient client = WireClient.tcp(broker.address())) {
                assertThat(client.ended()).isTrue();
            }
        }
    }

    @Test
    default void aConnectedClientHasNoDeadline() throws Exception {
        Configs config = config().connectTimeout(Duration.ofSeconds(1));
        try (TestListeners broker = TestListeners.bound(config.build());
                WireClient client = connect(broker.address())) {
            assertThat(client.echo("x")).isEqualTo("x");
            broker.connectAtOnce = false;
            try (WireClient later = WireClient.tcp(broker.address())) {
                assertThat(later.ended()).isTrue(); // a later deadline has passed
            }
            assertThat(client.echo("still there")).isEqualTo("still there");
        }
    }

    @Test
    default void closingTheListenersClosesTheirConnections() throws Exception {
        try (TestListeners broker = TestListeners.bound(config().build());
                WireClient client = connect(broker.address())) {
            assertThat(client.echo("x")).isEqualTo("x");
            broker.listeners.stopAccepting().block(TestListeners.PATIENCE);
            assertThat(client.echo("goes on")).isEqualTo("goes on");
            broker.listeners.close().block(TestListeners.PATIENCE);
            client.in.readAllBytes();
            assertThat(client.ended()).isTrue();
        }
    }

    private static CompletableFuture<Void> sending(WireClient client, byte[] bytes) {
        return CompletableFuture.runAsync(() -> sendAll(client, bytes), THREADS);
    }

    private static void sendAll(WireClient client, byte[] bytes) {
        try {
            client.send(bytes);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        for (int i = 0; i < length; i++) {
            bytes[i] &= 0x7F; // 0xFF would end the echo
        }
        return bytes;
    }
}
