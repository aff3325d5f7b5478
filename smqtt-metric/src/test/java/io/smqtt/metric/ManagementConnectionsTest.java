// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ManagementConfig;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ManagementConnectionsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int MOST = 64;
    private static final String REQUEST = "GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

    private final List<Socket> sockets = new ArrayList<>();
    private final List<ManagementServer> servers = new ArrayList<>();

    @AfterEach
    void close() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        servers.forEach(server -> server.close().block(PATIENCE));
    }

    private InetSocketAddress serve(Duration firstRequest) {
        BrokerConfig config = BrokerConfig.builder()
                .management(ManagementConfig.builder().port(0).build())
                .build();
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        ManagementServer server = new ManagementServer(
                config.management(),
                ManagementToken.of(config),
                registry,
                new Health(new BrokerMeters(registry, Set.of(), null).store()),
                false,
                firstRequest);
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
        try {
            socket.getOutputStream().write(REQUEST.getBytes(StandardCharsets.US_ASCII));
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
    void oneConnectionMayAskAsOftenAsItLikes() throws IOException {
        Socket socket = open(serve(PATIENCE));

        for (int i = 0; i < 100; i++) {
            assertThat(ask(socket)).as("request %d", i).isTrue();
        }
    }

    @Test
    void idleConnectionsCountAndMakeRoomWhenTheyClose() throws IOException {
        InetSocketAddress server = serve(PATIENCE);
        for (int i = 0; i < MOST; i++) {
            assertThat(ask(open(server))).as("connection %d", i).isTrue();
        }

        assertThat(ask(open(server))).isFalse();
        assertThat(ask(sockets.get(0))).isTrue();

        sockets.get(0).close();
        await().atMost(PATIENCE).until(() -> ask(open(server)));
    }

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
