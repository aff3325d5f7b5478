// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.spi.ClusterTransport.Refusal;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jgroups.Version;
import org.jgroups.blocks.cs.Connection;
import org.jgroups.stack.IpAddress;
import org.jgroups.util.ByteArrayDataOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Who gets through the port of the cluster while others do not finish their handshake. */
class AdmittingSocketTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String NODE = "127.0.0.2";
    private static final String FLOOD = "127.0.0.3";
    private static final int SEVERAL_TIMES = 3 * AdmittingSocket.MAXIMUM_HANDSHAKES;

    private final List<Refusal> refused = new CopyOnWriteArrayList<>();
    private final List<Socket> opened = new ArrayList<>();

    @AfterEach
    void close() throws IOException {
        for (Socket socket : opened) {
            socket.close();
        }
    }

    private AdmittingSocket port(Consumer<Refusal> counter, Duration patience) throws IOException {
        AdmittingSocket port =
                new AdmittingSocket(new LinkSecurity(null, null), new Refusals(counter), new HandshakeTimer(patience));
        port.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        return port;
    }

    private Socket open(String from, AdmittingSocket port) throws IOException {
        Socket socket = new Socket();
        opened.add(socket);
        socket.setSoTimeout((int) PATIENCE.toMillis());
        socket.bind(new InetSocketAddress(from, 0));
        socket.connect(port.getLocalSocketAddress());
        return socket;
    }

    private static byte[] greeting() throws IOException {
        IpAddress address = new IpAddress(InetAddress.getLoopbackAddress(), 9);
        ByteArrayDataOutputStream greeting = new ByteArrayDataOutputStream(64, true);
        greeting.write(Connection.cookie);
        greeting.writeShort(Version.version);
        greeting.writeShort(address.serializedSize());
        address.writeTo(greeting);
        return java.util.Arrays.copyOf(greeting.buffer(), greeting.position());
    }

    private static void greet(Socket socket) throws IOException {
        socket.getOutputStream().write(greeting());
    }

    private static CompletableFuture<Socket> next(AdmittingSocket port) {
        CompletableFuture<Socket> taken = new CompletableFuture<>();
        Thread channel = new Thread(() -> {
            try {
                taken.complete(port.accept());
            } catch (IOException e) {
                taken.completeExceptionally(e);
            }
        });
        channel.setDaemon(true);
        channel.start();
        return taken;
    }

    private static boolean isHungUpOn(Socket socket) {
        try {
            return socket.getInputStream().read() < 0;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    @Test
    void theAddressWithMostUnfinishedHandshakesLosesItsOldest() throws Exception {
        try (AdmittingSocket port = port(refused::add, PATIENCE)) {
            Socket node = open(NODE, port);
            for (int i = 0; i < SEVERAL_TIMES; i++) {
                open(FLOOD, port);
            }
            int crowdedOut = SEVERAL_TIMES + 1 - AdmittingSocket.MAXIMUM_HANDSHAKES;
            await().atMost(PATIENCE).until(() -> refused.size() == crowdedOut);

            CompletableFuture<Socket> taken = next(port);
            greet(node);

            assertThat(taken.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).getRemoteSocketAddress())
                    .isEqualTo(node.getLocalSocketAddress());
            assertThat(refused).containsOnly(Refusal.OVERLOAD);
            assertThat(isHungUpOn(opened.get(1))).isTrue();
        }
    }

    @Test
    void oneAddressCannotFillTheQueue() throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        Consumer<Refusal> counter = reason -> {
            refused.add(reason);
            if (reason == Refusal.PROTOCOL) { // on the thread of the handshake
                awaitQuietly(busy);
            }
        };
        try (AdmittingSocket port = port(counter, PATIENCE)) {
            for (int i = 0; i < AdmittingSocket.MAXIMUM_HANDSHAKES; i++) {
                open(FLOOD, port).getOutputStream().write(new byte[100]);
            }
            await().atMost(PATIENCE).until(() -> refused.size() == AdmittingSocket.MAXIMUM_HANDSHAKES);
            for (int i = 0; i < SEVERAL_TIMES; i++) { // no thread is left for these
                open(FLOOD, port);
            }
            Socket node = open(NODE, port);
            greet(node);
            CompletableFuture<Socket> taken = next(port);
            busy.countDown();

            assertThat(taken.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).getRemoteSocketAddress())
                    .isEqualTo(node.getLocalSocketAddress());
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void whatTheChannelDoesNotTakeIsBounded() throws Exception {
        try (AdmittingSocket port = port(refused::add, PATIENCE)) {
            greet(open(NODE, port));
            for (int i = 0; i < SEVERAL_TIMES; i++) {
                greet(open(FLOOD, port));
            }
            int crowdedOut = SEVERAL_TIMES + 1 - AdmittingSocket.MAXIMUM_HANDSHAKES;
            await().atMost(PATIENCE).until(() -> refused.size() == crowdedOut);

            List<Socket> taken = new ArrayList<>();
            for (int i = 0; i < AdmittingSocket.MAXIMUM_HANDSHAKES; i++) {
                taken.add(next(port).get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
            }
            assertThat(taken)
                    .extracting(socket -> socket.getInetAddress().getHostAddress())
                    .contains(NODE);
        }
    }

    @Test
    void aHandshakeHasOneDeadlineHoweverManyBytesCome() throws Exception {
        ScheduledExecutorService dribble = Dribble.clock();
        try (AdmittingSocket port = port(refused::add, Duration.ofMillis(500))) {
            Socket slow = open(FLOOD, port);
            Dribble.send(dribble, slow, greeting());

            assertThat(isHungUpOn(slow)).isTrue();
            await().atMost(PATIENCE).until(() -> refused.equals(List.of(Refusal.TIMEOUT)));
        } finally {
            dribble.shutdownNow();
        }
    }

    @Test
    void aGreetingThatIsCutOffIsReportedAsSuchAndAProbeOfThePortIsNot() throws Exception {
        try (AdmittingSocket port = port(refused::add, PATIENCE)) {
            open(NODE, port).close();
            Socket cut = open(NODE, port);
            cut.getOutputStream().write(greeting(), 0, 7);
            cut.shutdownOutput();

            assertThat(isHungUpOn(cut)).isTrue();
            await().atMost(PATIENCE).until(() -> refused.equals(List.of(Refusal.ABORTED)));
        }
    }

    @Tag("slow")
    @Test
    void noConnectionOutlivesThePort() throws Exception {
        for (int i = 0; i < 300; i++) {
            AdmittingSocket port = port(refused::add, PATIENCE);
            Socket node = open(NODE, port);
            CyclicBarrier together = new CyclicBarrier(2);
            CompletableFuture<Void> closed = CompletableFuture.runAsync(
                    () -> {
                        try {
                            together.await();
                            port.close();
                        } catch (Exception e) {
                            throw new IllegalStateException(e);
                        }
                    },
                    THREADS);
            together.await();
            try {
                greet(node);
            } catch (IOException e) {
                assertThat(e).as("it was closed already").isNotNull();
            }
            closed.get();

            assertThat(isHungUpOn(node)).as("round %d", i).isTrue();
        }
    }
}
