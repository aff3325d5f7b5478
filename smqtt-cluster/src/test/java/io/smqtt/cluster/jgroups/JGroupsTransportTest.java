// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.smqtt.ReloadResult;
import io.smqtt.config.ClusterConfigBuilder;
import io.smqtt.config.ClusterTlsConfig;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.thread.ThreadPerTask;
import io.smqtt.transport.BindFailedException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Real channels on the loopback interface. */
@Tag("slow")
class JGroupsTransportTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final int HANG_UPS = 6;

    /** What two nodes get that start at the same moment; 5 s do on an idle machine. */
    private static final Duration SOON = Duration.ofSeconds(20);

    private static final UnaryOperator<ClusterConfigBuilder> SECRET =
            config -> config.secret("0123456789abcdef-shared");

    @TempDir
    Path directory;

    @RegisterExtension
    final ShownLines log = new ShownLines();

    private static X509Bundle authority() throws Exception {
        return new CertificateBuilder()
                .ecp256()
                .subject("CN=authority")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
    }

    private ClusterTlsConfig certified(String name, X509Bundle issuer, X509Bundle trusted) throws Exception {
        X509Bundle own = new CertificateBuilder().ecp256().subject("CN=" + name).buildIssuedBy(issuer);
        Path certificate = Files.writeString(directory.resolve(name + ".pem"), own.getCertificatePathPEM());
        Path key = Files.writeString(directory.resolve(name + ".key"), own.getPrivateKeyPEM());
        Path ca = Files.writeString(directory.resolve(name + "-ca.pem"), trusted.getCertificatePEM());
        return new ClusterTlsConfig(certificate, key, ca);
    }

    private static void awaitMeeting(TransportNode one, TransportNode other) {
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(one.peers).hasSize(1);
            assertThat(other.peers).hasSize(1);
        });
        one.sendToAll("from one");
        other.sendToAll("from other");
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(one.frames).contains("from other");
            assertThat(other.frames).contains("from one");
        });
    }

    @Test
    void nodesWithCertificatesOfOneAuthorityMeetAndOthersStayOut() throws Exception {
        X509Bundle authority = authority();
        ClusterTlsConfig first = certified("first", authority, authority);
        ClusterTlsConfig second = certified("second", authority, authority);
        ClusterTlsConfig stranger = certified("stranger", authority(), authority);
        List<Integer> ports = LoopbackPorts.some(2);
        int third = LoopbackPorts.one();
        int fourth = LoopbackPorts.one();
        try (TransportNode one = new TransportNode("one", ports.get(0), ports, config -> config.tls(first));
                TransportNode other = new TransportNode("other", ports.get(1), ports, config -> config.tls(second))) {
            awaitMeeting(one, other);

            try (TransportNode wrong = new TransportNode("wrong", third, ports, config -> config.tls(stranger));
                    TransportNode plain = new TransportNode("plain", fourth, ports, config -> config)) {
                one.sendToAll("after them");
                await().atMost(PATIENCE).until(() -> other.frames.contains("after them"));
                assertThat(wrong.peers).isEmpty();
                assertThat(plain.peers).isEmpty();
                assertThat(one.peers).hasSize(1);
            }
        }
    }

    @Test
    void certificatesAreReadAgain() throws Exception {
        X509Bundle before = authority();
        X509Bundle after = authority();
        ClusterTlsConfig first = certified("first", before, before);
        ClusterTlsConfig second = certified("second", after, after);
        List<Integer> ports = LoopbackPorts.some(2);
        try (TransportNode one = new TransportNode("one", ports.get(0), ports, config -> config.tls(first))) {
            try (TransportNode other = new TransportNode("other", ports.get(1), ports, config -> config.tls(second))) {
                assertThat(other.peers).isEmpty(); // neither knows the other's authority

                certified("first", after, after);
                ReloadResult result = one.reload();

                assertThat(result.failed()).isEmpty();
                assertThat(result.reloaded()).hasSize(3);
                awaitMeeting(one, other);
            }
        }
    }

    @Test
    void whoShowsNoCertificateIsHungUpOn() throws Exception {
        X509Bundle authority = authority();
        ClusterTlsConfig own = certified("own", authority, authority);
        int port = LoopbackPorts.one();
        SSLContext trusting = SSLContext.getInstance("TLS");
        trusting.init(null, authority.toTrustManagerFactory().getTrustManagers(), null);
        try (TransportNode node = new TransportNode("node", port, List.of(port), config -> config.tls(own));
                Socket plain = new Socket(InetAddress.getLoopbackAddress(), port);
                SSLSocket socket =
                        (SSLSocket) trusting.getSocketFactory().createSocket(plain, "localhost", port, true)) {
            socket.setSoTimeout((int) PATIENCE.toMillis());

            assertThat(endsOrFails(socket)).isTrue();
            assertThat(node.peers).isEmpty();
        }
    }

    /** With TLS 1.3 a client learns after the handshake that its certificate was missed. */
    private static boolean endsOrFails(SSLSocket socket) {
        try {
            socket.startHandshake();
            return socket.getInputStream().read() < 0;
        } catch (java.net.SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "another secret of others"})
    void aNodeWithoutTheSecretDoesNotDelayTheOthers(String secret) throws Exception {
        List<Integer> ports = LoopbackPorts.some(3);
        UnaryOperator<ClusterConfigBuilder> others = config -> secret.isEmpty() ? config : config.secret(secret);
        List<TransportNode> nodes = startTogether(List.of(
                () -> new TransportNode("one", ports.get(0), ports, SECRET),
                () -> new TransportNode("outside", ports.get(1), ports, others),
                () -> new TransportNode("other", ports.get(2), ports, SECRET)));
        try {
            await().atMost(SOON).untilAsserted(() -> {
                assertThat(nodes.get(0).peers).hasSize(1);
                assertThat(nodes.get(2).peers).hasSize(1);
            });
            assertThat(nodes.get(1).peers).isEmpty();
        } finally {
            nodes.forEach(TransportNode::close);
        }
    }

    private static List<TransportNode> startTogether(List<Supplier<TransportNode>> starts) {
        return starts.stream().map(CompletableFuture::supplyAsync).toList().stream()
                .map(CompletableFuture::join)
                .toList();
    }

    @Test
    void nodesFindEachOtherByAHostName() throws Exception {
        InetAddress[] addresses = {InetAddress.getByName("127.0.0.1"), InetAddress.getByName("127.0.0.2")};
        HostNames.Lookup lookup = name -> {
            if (!name.equals("nodes.example")) {
                throw new UnknownHostException(name);
            }
            return addresses;
        };
        int port = LoopbackPorts.one();
        try (TransportNode one = new TransportNode("one", "127.0.0.1:" + port, lookup);
                TransportNode other = new TransportNode("other", "127.0.0.2:" + port, lookup)) {
            awaitMeeting(one, other);
        }
    }

    /** A node that is busy, or is paused, for longer than the channel looks for others. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aNodeThatAnswersLateIsMetBeforeTheStartIsOver(boolean secret) throws Exception {
        List<Integer> ports = LoopbackPorts.some(2);
        UnaryOperator<ClusterConfigBuilder> more = config -> secret ? SECRET.apply(config) : config;
        try (ServerSocket way = new ServerSocket(0, 10, InetAddress.getByName("127.0.0.1"));
                TransportNode one = new TransportNode("one", ports.get(0), ports, more)) {
            CompletableFuture.delayedExecutor(2, TimeUnit.SECONDS, ThreadPerTask.THREADS)
                    .execute(() -> passOn(way, ports.get(0)));
            try (TransportNode other = new TransportNode("other", ports.get(1), List.of(way.getLocalPort()), more)) {
                assertThat(other.peers).hasSize(1);
                awaitMeeting(one, other);
            }
        }
    }

    /** Of two nodes that dial each other at the same moment, one closes the connection of the other one, with what was sent on it. */
    @Test
    void aNodeThatHangsUpAndDialsItselfIsMetBeforeTheStartIsOver() throws Exception {
        List<Integer> ports = LoopbackPorts.some(2);
        try (ServerSocket way = new ServerSocket(0, 10, InetAddress.getByName("127.0.0.1"));
                TransportNode one = new TransportNode("one", ports.get(0), ports, config -> config)) {
            ThreadPerTask.THREADS.execute(() -> hangUp(way));
            try (TransportNode other =
                    new TransportNode("other", ports.get(1), List.of(way.getLocalPort()), config -> config)) {
                assertThat(other.peers).hasSize(1);
                awaitMeeting(one, other);
            }
        }
    }

    /** Hangs up on a node for longer than it looks for others, then on none any more. */
    private static void hangUp(ServerSocket way) {
        try (way) {
            for (int i = 0; i < HANG_UPS; i++) {
                way.accept().close();
            }
        } catch (IOException e) { // the end of the test
            assertThat(way.isClosed()).isTrue();
        }
    }

    /** Carries what arrives to another port, and what comes back, until the server is closed. */
    private static void passOn(ServerSocket way, int port) {
        try {
            while (!way.isClosed()) {
                Socket from = way.accept();
                Socket to = new Socket(InetAddress.getLoopbackAddress(), port);
                ThreadPerTask.THREADS.execute(() -> copy(from, to));
                ThreadPerTask.THREADS.execute(() -> copy(to, from));
            }
        } catch (IOException e) { // the end of the test
            assertThat(way.isClosed()).isTrue();
        }
    }

    private static void copy(Socket from, Socket to) {
        try {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException e) { // closed by an end
            assertThat(e).isNotNull();
        } finally {
            NodeSocket.hangUp(from);
            NodeSocket.hangUp(to);
        }
    }

    @Test
    void thePortIsBoundToTheConfiguredAddressOnly() throws Exception {
        int port = LoopbackPorts.one();
        try (TransportNode node = new TransportNode("node", port, List.of(port), config -> config)) {
            new Socket("127.0.0.1", port).close();
            assertThatThrownBy(() -> new Socket("127.0.0.9", port).close()).isInstanceOf(ConnectException.class);
            assertThat(node.peers).isEmpty();
        }
    }

    @Test
    void aPortThatIsTakenEndsTheStartAndIsNamed() throws Exception {
        int port = LoopbackPorts.one();
        try (ServerSocket other = new ServerSocket(port, 1, InetAddress.getByName("127.0.0.1"))) {
            assertThatThrownBy(() -> new TransportNode("node", port, List.of(port), config -> config))
                    .isInstanceOf(BindFailedException.class)
                    .hasMessageContaining("port " + other.getLocalPort() + " on 127.0.0.1")
                    .hasMessageContaining("cluster.bind");
        }

        try (TransportNode node = new TransportNode("node", port, List.of(port), config -> config)) {
            assertThat(node.peers).isEmpty(); // nothing was left behind
        }
    }

    @Test
    void aNameThatDoesNotExistYetKeepsNobodyFromStarting() throws Exception {
        HostNames.Lookup lookup = name -> {
            throw new UnknownHostException(name);
        };
        try (TransportNode alone = new TransportNode("alone", "127.0.0.1:" + LoopbackPorts.one(), lookup)) {
            assertThat(alone.peers).isEmpty();
        }
    }

    @Test
    void noiseAtThePortChangesNothingAndFillsNoLog() throws Exception {
        List<Integer> ports = LoopbackPorts.some(2);
        try (TransportNode one = new TransportNode("one", ports.get(0), ports, SECRET);
                TransportNode other = new TransportNode("other", ports.get(1), ports, SECRET)) {
            awaitMeeting(one, other);
            int before = log.warnings().size();

            Random random = new Random(4);
            for (int i = 0; i < 300; i++) {
                byte[] noise = new byte[1 + random.nextInt(2_000)];
                random.nextBytes(noise);
                shout(ports.get(0), noise);
                shout(ports.get(0), asPeer(noise));
            }

            other.sendToAll("after the noise");
            await().atMost(PATIENCE).until(() -> one.frames.contains("after the noise"));
            assertThat(one.frames).containsExactly("from other", "after the noise");
            assertThat(one.peers).hasSize(1);
            assertThat(log.warnings().subList(before, log.warnings().size())).hasSizeLessThan(20);
        }
    }

    /** Begins as a peer of this version does, so that what follows is looked at as messages. */
    private static byte[] asPeer(byte[] noise) {
        byte[] cookie = {'b', 'e', 'l', 'a'};
        byte[] frame = new byte[noise.length + 32];
        System.arraycopy(cookie, 0, frame, 0, cookie.length);
        short version = org.jgroups.Version.version;
        frame[4] = (byte) (version >> 8);
        frame[5] = (byte) version;
        frame[7] = 4; // an address of four bytes
        frame[8] = 127;
        frame[11] = 1;
        frame[12] = 40;
        frame[17] = (byte) (noise.length >> 8); // length of the next message
        frame[18] = (byte) noise.length;
        System.arraycopy(noise, 0, frame, 19, noise.length);
        return frame;
    }

    private static void shout(int port, byte[] bytes) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            OutputStream out = socket.getOutputStream();
            out.write(bytes);
            out.flush();
        } catch (IOException e) { // hung up on meanwhile, as it may be
            assertThat(e).isNotNull();
        }
    }
}
