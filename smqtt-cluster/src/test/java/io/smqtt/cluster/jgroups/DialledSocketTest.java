// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.spi.ClusterTransport.Refusal;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
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
    private final ServerSocket server;
    private Socket dialled;
    private Socket accepted;

    DialledSocketTest() throws IOException {
        server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    }

    @BeforeEach
    void dial() throws Exception {
        dialled = dial(PATIENCE);
        accepted = server.accept();
    }

    private Socket dial(Duration patience) throws Exception {
        LinkSecurity security = new LinkSecurity(null, new SharedSecret("the secret of all nodes"));
        Socket socket = new DialledSocket(security, new Refusals(refused::add), new HandshakeTimer(patience));
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
        try (Socket impatient = dial(Duration.ofMillis(500));
                Socket slow = server.accept()) {
            Dribble.send(dribble, slow, BEGIN);

            assertThatThrownBy(() -> impatient.getInputStream().read()).isInstanceOf(SocketException.class);
            assertThat(refused).containsExactly(Refusal.TIMEOUT);
        } finally {
            dribble.shutdownNow();
        }
    }

    @Test
    void aPeerThatClosesDuringTheHandshakeDoesNotCountAsOneWithAnotherSecret() throws Exception {
        accepted.getOutputStream().write(BEGIN);
        accepted.shutdownOutput();

        assertThatThrownBy(() -> dialled.getInputStream().read()).isInstanceOf(SocketException.class);
        assertThat(refused).containsExactly(Refusal.ABORTED);
    }

    @Test
    void aPeerThatRefusesTheProofDoes() throws Exception {
        accepted.getOutputStream().write(BEGIN);
        accepted.getOutputStream().write(new byte[NUMBER_BYTES]);

        assertThatThrownBy(() -> dialled.getInputStream().read()).isInstanceOf(SocketException.class);
        assertThat(refused).containsExactly(Refusal.AUTHENTICATION);
    }

    @Test
    void whatThisNodeClosesItselfIsNotReported() throws Exception {
        dialled.close();

        assertThatThrownBy(() -> dialled.getInputStream().read()).isInstanceOf(SocketException.class);
        assertThat(refused).isEmpty();
    }
}
