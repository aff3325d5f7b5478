// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ManagementConfig;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class ManagementConnectionsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int MOST = 128;
    private static final String REQUEST = "GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

    private static final String TOKEN = "0123456789abcdef-secret";
    private static final String KNOWN = "Authorization: Bearer " + TOKEN + "\r\n";

    private static final String KEY = "a2V5OnNlY3JldA==";

    @TempDir
    Path directory;

    private final List<Socket> sockets = new ArrayList<>();
    private final List<ManagementServer> servers = new ArrayList<>();
    private final Sinks.One<ManagementEndpoint.Answer> late = Sinks.one();

    @AfterEach
    void close() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        servers.forEach(server -> server.close().block(PATIENCE));
    }

    private InetSocketAddress serve(Duration firstRequest) throws IOException {
        Path token = Files.writeString(directory.resolve("token"), TOKEN);
        BrokerConfig config = BrokerConfig.builder()
                .management(ManagementConfig.builder().port(0).tokenFile(token).build())
                .build();
        ManagementServer server = new ManagementServer(
                config.management(), ManagementToken.of(config), new BrokerView(), false, firstRequest);
        server.endpoint("/added/", request -> Mono.just(ManagementEndpoint.Answer.text(200, "ok")));
        server.endpoint("/late/", request -> late.asMono());
        server.known(("Basic " + KEY)::equals);
        servers.add(server);
        server.bind().block(PATIENCE);
        return Objects.requireNonNull(server.address());
    }

    private Socket open(InetSocketAddress server) throws IOException {
        Socket socket = new Socket(InetAddress.getByName("127.0.0.1"), server.getPort());
        sockets.add(socket);
        socket.setSoTimeout((int) PATIENCE.toMillis());
        return socket;
    }

    /** {@return whether it was answered, rather than closed} */
    private static boolean ask(Socket socket) {
        return ask(socket, "");
    }

    private static boolean ask(Socket socket, String header) {
        return ask(socket, "/health/live", header);
    }

    private static boolean ask(Socket socket, String path, String header) {
        try {
            send(socket, REQUEST.replace("/health/live", path).replace("\r\n\r\n", "\r\n" + header + "\r\n"));
            return isAnswered(socket);
        } catch (IOException e) {
            return false; // reset
        }
    }

    private static void send(Socket socket, String request) throws IOException {
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
    }

    private static boolean isAnswered(Socket socket) {
        try {
            InputStream in = socket.getInputStream();
            StringBuilder head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                int next = in.read();
                if (next < 0) {
                    return false;
                }
                head.append((char) next);
            }
            String length = head.toString().toLowerCase(java.util.Locale.ROOT).split("content-length: ", 2)[1];
            int rest = Integer.parseInt(length.substring(0, length.indexOf('\r')));
            return in.readNBytes(rest).length == rest && head.toString().startsWith("HTTP/1.1 ");
        } catch (java.net.SocketTimeoutException e) {
            throw new AssertionError("neither answered nor closed", e);
        } catch (IOException e) {
            return false; // reset
        }
    }

    @Test
    void aRequestBehindOneThatIsAnsweredLateStopsNothing() throws IOException {
        Socket socket = open(serve(PATIENCE));

        String first = REQUEST.replace("/health/live", "/late/").replace("\r\n\r\n", "\r\n" + KNOWN + "\r\n");
        send(socket, first + REQUEST);
        assertThat(ask(open(Objects.requireNonNull(servers.get(0).address()))))
                .isTrue(); // takes longer than to read both
        late.tryEmitValue(ManagementEndpoint.Answer.text(200, "late"));

        assertThat(isAnswered(socket)).isTrue();
        assertThat(isAnswered(socket)).isTrue();
        assertThat(ask(socket)).isTrue();
    }

    @Test
    void oneConnectionMayAskAsOftenAsItLikes() throws IOException {
        Socket socket = open(serve(PATIENCE));

        for (int i = 0; i < 100; i++) {
            assertThat(ask(socket)).as("request %d", i).isTrue();
        }
    }

    @Test
    void theOldestConnectionWithoutATokenMakesRoomForAProbe() throws IOException {
        InetSocketAddress server = serve(PATIENCE);
        for (int i = 0; i < MOST; i++) {
            assertThat(ask(open(server))).as("connection %d", i).isTrue();
        }

        for (int i = 0; i < MOST; i++) {
            assertThat(ask(open(server))).as("probe %d", i).isTrue();
        }
        assertThat(sockets.get(0).getInputStream().read()).isEqualTo(-1);
        assertThat(ask(sockets.get(MOST))).isTrue();
    }

    @Test
    void connectionsThatSendNothingKeepNoProbeOut() throws IOException {
        InetSocketAddress server = serve(PATIENCE);
        for (int i = 0; i < MOST; i++) {
            open(server);
        }

        assertThat(ask(open(server))).isTrue();
    }

    @Test
    void whoHasShownTheTokenIsNotClosedForOthers() throws IOException {
        InetSocketAddress server = serve(PATIENCE);
        Socket known = open(server);
        assertThat(askAdded(known)).isTrue();
        for (int i = 0; i < 2 * MOST; i++) {
            assertThat(ask(open(server))).as("connection %d", i).isTrue();
        }
        assertThat(askAdded(known)).isTrue();

        assertThat(askAdded(known)).isTrue();
    }

    @Test
    void whoHasShownAnApiKeyIsNotClosedForOthers() throws IOException {
        InetSocketAddress server = serve(PATIENCE);
        Socket known = open(server);
        String key = "Authorization: Basic " + KEY + "\r\n";
        assertThat(ask(known, "/cluster", key)).isTrue();
        for (int i = 0; i < 2 * MOST; i++) {
            assertThat(ask(open(server), "/cluster", "Authorization: Basic wrong\r\n"))
                    .as("connection %d", i)
                    .isTrue();
        }
        assertThat(ask(known, "/cluster", key)).isTrue();
    }

    @Test
    void whoHasShownTheTokenKeepsNoProbeOut() throws IOException {
        InetSocketAddress server = serve(PATIENCE);
        Socket first = open(server);
        assertThat(askAdded(first)).isTrue();
        for (int i = 0; i < 5 * MOST; i++) {
            assertThat(askAdded(open(server))).as("connection %d", i).isTrue();
            if (i % MOST == 0) {
                assertThat(ask(open(server))).as("probe after %d", i).isTrue();
            }
        }
        for (int i = 0; i < 5 * MOST; i++) {
            open(server); // says nothing
        }
        assertThat(ask(open(server))).isTrue();
        assertThat(ask(open(server), KNOWN))
                .as("a probe that shows the token as well")
                .isTrue();
        assertThat(first.getInputStream().read())
                .as("the one that was idle longest")
                .isEqualTo(-1);
    }

    private static boolean askAdded(Socket socket) {
        return ask(socket, "/added/x", KNOWN);
    }

    @Test
    void whatIsBeingAnsweredWithTheTokenMakesNoRoom() {
        ManagementConnections connections = new ManagementConnections(2, 2, 2);
        List<EmbeddedChannel> busy = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            EmbeddedChannel channel = new EmbeddedChannel();
            busy.add(channel);
            connections.admit(channel);
            assertThat(connections.asked(channel, ManagementConnections.Kind.KNOWN))
                    .isTrue();
        }
        EmbeddedChannel next = new EmbeddedChannel();
        connections.admit(next);
        assertThat(connections.asked(next, ManagementConnections.Kind.KNOWN)).isFalse();
        assertThat(connections.status().refusedRequests()).isEqualTo(1);
        connections.answered(next);

        connections.answered(busy.get(1));
        assertThat(connections.asked(next, ManagementConnections.Kind.KNOWN)).isTrue();
        assertThat(busy.get(0).isOpen()).isTrue();
        assertThat(busy.get(1).isOpen()).isFalse();
        assertThat(connections.status().known().closed()).isEqualTo(1);
        assertThat(connections.status().known().open()).isEqualTo(2);
        assertThat(connections.status().others().open()).isZero();
    }

    /** Requests that are not answered fill each class; then one of each class is still answered. */
    @Test
    void aFullClassTakesNoPlaceOfAnother() {
        for (ManagementConnections.Kind full : ManagementConnections.Kind.values()) {
            ManagementConnections connections = new ManagementConnections(2, 2, 2);
            for (int i = 0; i < 5; i++) {
                EmbeddedChannel busy = new EmbeddedChannel();
                connections.admit(busy);
                connections.asked(busy, full);
            }
            for (ManagementConnections.Kind other : ManagementConnections.Kind.values()) {
                EmbeddedChannel next = new EmbeddedChannel();
                connections.admit(next);
                boolean refused = other == full && full == ManagementConnections.Kind.KNOWN;
                assertThat(connections.asked(next, other))
                        .as("%s after many of %s", other, full)
                        .isNotEqualTo(refused);
                assertThat(next.isOpen()).isTrue();
                connections.answered(next);
            }
        }
    }

    @Test
    void whoIsIdleMakesRoomBeforeWhoIsBeingAnswered() {
        ManagementConnections connections = new ManagementConnections(2, 2, 2);
        EmbeddedChannel asking = new EmbeddedChannel();
        EmbeddedChannel idle = new EmbeddedChannel();
        connections.admit(asking);
        connections.asked(asking, ManagementConnections.Kind.OTHER);
        connections.admit(idle);

        EmbeddedChannel next = new EmbeddedChannel();
        connections.admit(next);
        assertThat(asking.isOpen()).isTrue();
        assertThat(idle.isOpen()).isFalse();

        connections.asked(next, ManagementConnections.Kind.OTHER);
        connections.admit(new EmbeddedChannel()); // nobody is idle: a probe comes before answers that nobody reads
        assertThat(asking.isOpen()).isFalse();
        assertThat(next.isOpen()).isTrue();
        assertThat(connections.status().others().closed()).isEqualTo(2);
    }

    @Test
    void aBodyThatComesTooSlowlyIsAnswered408() throws IOException {
        InetSocketAddress server = serve(Duration.ofSeconds(1));
        Socket slow = open(server);
        slow.getOutputStream()
                .write(("POST /added/x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n" + KNOWN + "\r\n12345")
                        .getBytes(StandardCharsets.US_ASCII));

        assertThat(new String(slow.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                .startsWith("HTTP/1.1 408 ");
    }

    @Test
    void whatIsNoRequestIsRefused() throws IOException {
        InetSocketAddress server = serve(PATIENCE);
        assertThat(refused(server, "\0\1\2 nonsense\r\n\r\n")).startsWith("HTTP/1.1 400 ");
        assertThat(refused(server, "GET /" + "x".repeat(20_000) + " HTTP/1.1\r\n\r\n"))
                .startsWith("HTTP/1.1 414 ");
        assertThat(refused(server, "GET / HTTP/1.1\r\nx: " + "x".repeat(10_000) + "\r\n\r\n"))
                .startsWith("HTTP/1.1 431 ");
    }

    private String refused(InetSocketAddress server, String request) throws IOException {
        Socket socket = open(server);
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    }

    @Tag("slow")
    @Test
    void whoSendsNoRequestIsClosedAndWhoSentOneStays() throws IOException {
        InetSocketAddress server = serve(Duration.ofSeconds(2));
        Socket known = open(server);
        assertThat(ask(known)).isTrue();

        Socket slow = open(server);
        slow.getOutputStream().write(REQUEST.substring(0, 30).getBytes(StandardCharsets.US_ASCII));

        assertThat(slow.getInputStream().read()).isEqualTo(-1);
        assertThat(ask(known)).isTrue();
    }
}
