// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.spi.ClusterTransport.Refusal;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Handshakes that the other end does not finish, seen from the end that dials. */
class DialledSocketTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int NUMBER_BYTES = 32;
    private static final byte[] BEGIN = ByteBuffer.allocate(4 + NUMBER_BYTES)
            .put(new byte[] {'s', 'm', 'q', 1})
            .array();

    private final List<Refusal> refused = new CopyOnWriteArrayList<>();
    private final Set<SocketAddress> reached = ConcurrentHashMap.newKeySet();
    private final ServerSocket server;
    private Socket dialled;
    private Socket accepted;
    private CompletableFuture<Integer> first;

    DialledSocketTest() throws IOException {
        server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    }

    @BeforeEach
    void dial() throws Exception {
        dialled = dial(PATIENCE);
        first = reading(dialled);
        accepted = server.accept();
    }

    /** The first byte, read by another thread. */
    private static CompletableFuture<Integer> reading(Socket socket) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return socket.getInputStream().read();
                    } catch (IOException e) {
                        throw new CompletionException(e);
                    }
                },
                THREADS);
    }

    private static void expectEnd(CompletableFuture<Integer> first) {
        assertThat(first).failsWithin(PATIENCE).withThrowableThat().withCauseInstanceOf(SocketException.class);
    }

    private Socket dial(Duration patience) throws Exception {
        return dial(new LinkSecurity(null, new SharedSecret("the secret of all nodes")), patience);
    }

    private Socket dial(LinkSecurity security, Duration patience) throws Exception {
        Socket socket = new DialledSocket(security, new Refusals(refused::add), new HandshakeTimer(patience), reached);
        socket.connect(server.getLocalSocketAddress());
        return socket;
    }

    @AfterEach
    void close() throws IOException {
        dialled.close();
        accepted.close();
        server.close();
    }

    @Test
    void aHandshakeHasOneDeadlineHoweverManyBytesCome() throws Exception {
        ScheduledExecutorService dribble = Dribble.clock();
        try (Socket impatient = dial(Duration.ofMillis(500))) {
            CompletableFuture<Integer> end = reading(impatient);
            try (Socket slow = server.accept()) {
                Dribble.send(dribble, slow, BEGIN);
                expectEnd(end);
            }
            assertThat(refused).containsExactly(Refusal.TIMEOUT);
            assertThat(reached).containsExactly(server.getLocalSocketAddress());
        } finally {
            dribble.shutdownNow();
        }
    }

    @Test
    void aPeerThatClosesDuringTheHandshakeDoesNotCountAsOneWithAnotherSecret() throws Exception {
        accepted.getOutputStream().write(BEGIN);
        accepted.shutdownOutput();

        expectEnd(first);
        assertThat(refused).containsExactly(Refusal.ABORTED);
        assertThat(reached).isEmpty();
    }

    @Test
    void aPeerThatRefusesTheProofDoes() throws Exception {
        accepted.getOutputStream().write(BEGIN);
        accepted.getOutputStream().write(new byte[NUMBER_BYTES]);

        expectEnd(first);
        assertThat(refused).containsExactly(Refusal.AUTHENTICATION);
        assertThat(reached).isEmpty();
    }

    /** Of two nodes that dial each other at the same moment, one closes the connection of the other one. */
    @Test
    void aPeerThatHangsUpIsThereUntilItAcceptsNoMore() throws Exception {
        LinkSecurity none = new LinkSecurity(null, null);
        try (Socket hungUpOn = dial(none, PATIENCE)) {
            CompletableFuture<Integer> end = reading(hungUpOn);
            server.accept().close();

            assertThat(end).succeedsWithin(PATIENCE).isEqualTo(-1);
            assertThat(reached).containsExactly(server.getLocalSocketAddress());
        }
        server.close();
        try (Socket late = dial(none, PATIENCE)) {
            expectEnd(reading(late));
            assertThat(reached).isEmpty();
        }
    }

    @Test
    void whatThisNodeClosesItselfIsNotReported() throws Exception {
        dialled.close();

        expectEnd(first);
        assertThat(refused).isEmpty();
    }

    @Test
    void writingDoesNotWaitForAPeerThatCannotBeReached() throws Exception {
        server.close();
        try (Socket unreachable = dial(PATIENCE)) {
            assertThat(unreachable.isConnected()).isTrue();
            assertThat(unreachable.getInetAddress()).isEqualTo(server.getInetAddress());
            assertThat(unreachable.getPort()).isEqualTo(server.getLocalPort());
            unreachable.getOutputStream().write(BEGIN);
            unreachable.getOutputStream().flush();
            expectEnd(reading(unreachable));
            assertThat(unreachable.isClosed()).isTrue();
        }
        assertThat(refused).isEmpty();
    }
}
