// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.TlsConfig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ProxyProtocolTest {

    private static final String SIGNATURE = "0d0a0d0a000d0a515549540a";

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "TCP4 192.0.2.7 198.51.100.1 50000 1883, 192.0.2.7, 50000",
        "TCP6 2001:db8::7 2001:db8::1 50000 1883, 2001:db8:0:0:0:0:0:7, 50000",
        "TCP6 ::ffff:192.0.2.7 2001:db8::1 50000 1883, 192.0.2.7, 50000",
    })
    void aTextHeaderNamesTheClient(String header, String host, int port) throws IOException {
        try (TestListeners broker = bound();
                WireClient client = WireClient.tcp(broker.address())) {
            client.sendRaw("PROXY " + header + "\r\nhello");
            assertThat(client.receive(5)).asString().isEqualTo("hello");
            assertThat(broker.accepted.get(0).remoteAddress()).isEqualTo(new InetSocketAddress(host, port));
            assertThat(broker.channels.get(0).pipeline().names().get(0)).isEqualTo(MqttPipeline.MQTT);
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "IPv4, 21 11 000c c0000207 c6336401 c350 075b, 192.0.2.7, 50000",
        "IPv6, 21 21 0024 20010db8000000000000000000000007 20010db8000000000000000000000001 c350 075b, 2001:db8::7, 50000",
        "IPv4 with a TLV, 21 11 0014 c0000207 c6336401 c350 075b 04 0005 0000000000, 192.0.2.7, 50000",
    })
    void aBinaryHeaderNamesTheClient(String what, String hex, String host, int port) throws IOException {
        try (TestListeners broker = bound();
                WireClient client = WireClient.tcp(broker.address())) {
            client.sendBytewise(bytes(SIGNATURE + hex));
            assertThat(client.echo("x")).isEqualTo("x");
            assertThat(broker.accepted.get(0).remoteAddress()).isEqualTo(new InetSocketAddress(host, port));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {SIGNATURE + "20000000", SIGNATURE + "2000000cc0000207c6336401c350075b", "unknown"})
    void aProxyThatSpeaksForItselfKeepsItsAddress(String header) throws IOException {
        try (TestListeners broker = bound();
                WireClient client = WireClient.tcp(broker.address())) {
            client.sendRaw(
                    header.equals("unknown") ? "PROXY UNKNOWN\r\n".getBytes(StandardCharsets.US_ASCII) : bytes(header));
            assertThat(client.echo("x")).isEqualTo("x");
            assertThat(broker.accepted.get(0).remoteAddress())
                    .isEqualTo(new InetSocketAddress("127.0.0.1", client.socket.getLocalPort()));
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(
            strings = {
                "100c00044d5154540402003c0000", // CONNECT without a header
                "50524f585920", // cut after PROXY
                "50524f585920544350342031302e302e302e310d0a", // too few fields
                "50524f5859205443503420393939392e302e302e3120312e312e312e31203120310d0a", // bad address
                SIGNATURE + "21110002c000", // too short for its addresses
                SIGNATURE + "31110000", // unknown version
                SIGNATURE + "2f110000", // unknown command
                SIGNATURE + "2111ffff", // 65,535 bytes announced
                SIGNATURE + "21110300", // 768 bytes announced
                SIGNATURE, // cut
                "16030100"
            })
    void withoutAProperHeaderThereIsNoConnection(String hex) throws IOException {
        ListenerConfig config = Configs.tcp()
                .trusting("127.0.0.1")
                .connectTimeout(Duration.ofMillis(700))
                .build();
        try (TestListeners broker = TestListeners.bound(config);
                WireClient client = WireClient.tcp(broker.address())) {
            client.sendRaw(bytes(hex));
            assertThat(client.ended()).isTrue();
            assertThat(broker.accepted).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "10", // the first byte of CONNECT
                "100c00044d5154540402003c0000",
                "16030100",
                "474554202f", // GET /
                "50524f585921", // PROXY!
                "50520d0a", // PR, then the other signature
                "0d0a0d0a01", // the binary signature, but for the last byte
                "0d0a0d0a000d0a515549540b",
            })
    void whatCannotBecomeAHeaderEndsTheConnectionAtOnce(String hex) throws IOException {
        ListenerConfig config = Configs.tcp()
                .trusting("127.0.0.1")
                .connectTimeout(Duration.ofMinutes(2)) // the client gives up before
                .build();
        try (TestListeners broker = TestListeners.bound(config);
                WireClient client = WireClient.tcp(broker.address())) {
            assertThat(client.endsWhileSending(bytes(hex))).isTrue();
            assertThat(broker.accepted).isEmpty();
        }
    }

    @Test
    void whatFollowsTheHeaderOfARefusedClientIsNotRead() throws IOException {
        TestListeners broker =
                TestListeners.bound(Configs.ws().trusting("127.0.0.1").build(), Configs.limits(100, 100, 1, 0));
        broker.connectAtOnce = false;
        try (broker;
                WireClient first = WireClient.tcp(broker.address());
                WireClient second = WireClient.tcp(broker.address())) {
            String start = "PROXY TCP4 192.0.2.7 198.51.100.1 1 1883\r\n" + WebSocketClient.REQUEST;
            first.sendRaw(start);
            assertThat(first.receive(12)).asString().isEqualTo("HTTP/1.1 101");
            await().until(() -> broker.accepted.size() == 1);
            second.sendRaw(start);
            assertThat(second.ended()).isTrue();
        }
        assertThat(broker.refused).containsExactly("limits.max-pending-connections-per-address");
        assertThat(broker.accepted).hasSize(1); // the event loops have ended: nobody comes any more
    }

    @Test
    void aSecondHeaderDoesNotHealTheFirst() throws IOException {
        TestListeners broker = bound();
        try (broker;
                WireClient client = WireClient.tcp(broker.address())) {
            client.sendRaw("PROXY TCP4 999.0.2.7 198.51.100.1 1 1883\r\n"
                    + "PROXY TCP4 192.0.2.7 198.51.100.1 1 1883\r\nhello");
            assertThat(client.ended()).isTrue();
        }
        assertThat(broker.accepted).isEmpty();
    }

    @Test
    void anEndlessTextHeaderIsCutShort() throws IOException {
        try (TestListeners broker = bound();
                WireClient client = WireClient.tcp(broker.address())) {
            client.sendRaw("PROXY TCP4 " + "1".repeat(200));
            assertThat(client.ended()).isTrue(); // not at the deadline of 15 seconds, or the client would give up
            assertThat(broker.accepted).isEmpty();
        }
    }

    @Test
    void aHeaderFromElsewhereIsNotBelieved() throws IOException {
        ListenerConfig config = Configs.tcp().trusting("10.0.0.0/8", "::1").build();
        try (TestListeners broker = TestListeners.bound(config);
                WireClient client = WireClient.tcp(broker.address())) {
            assertThat(client.ended()).isTrue();
            assertThat(broker.refused).containsExactly("listeners.one.trusted-proxies");
            assertThat(broker.opened).isEmpty();
        }
    }

    @Test
    void onAPlainListenerTheHeaderIsJustBytes() throws IOException {
        try (TestListeners broker = TestListeners.bound(Configs.tcp().build());
                WireClient client = WireClient.tcp(broker.address())) {
            String header = "PROXY TCP4 192.0.2.7 198.51.100.1 50000 1883\r\n";
            assertThat(client.echo(header)).isEqualTo(header);
            assertThat(broker.accepted.get(0).remoteAddress().getAddress().isLoopbackAddress())
                    .isTrue();
        }
    }

    @Test
    void theRealAddressCountsForTheLimits() throws IOException {
        ListenerConfig config = Configs.tcp().trusting("127.0.0.0/8").build();
        try (TestListeners broker = TestListeners.bound(config, Configs.limits(100, 100, 1, 0))) {
            broker.connectAtOnce = false;
            try (WireClient first = WireClient.tcp(broker.address());
                    WireClient second = WireClient.tcp(broker.address());
                    WireClient other = WireClient.tcp(broker.address())) {
                first.sendRaw("PROXY TCP4 192.0.2.7 198.51.100.1 1 1883\r\n");
                assertThat(first.echo("x")).isEqualTo("x");
                second.sendRaw("PROXY TCP4 192.0.2.7 198.51.100.1 2 1883\r\n");
                assertThat(second.ended()).isTrue();
                other.sendRaw("PROXY TCP4 192.0.2.8 198.51.100.1 3 1883\r\n");
                assertThat(other.echo("x")).isEqualTo("x");
                assertThat(broker.refused).containsExactly("limits.max-pending-connections-per-address");
            }
        }
    }

    @Test
    void whoMakesRoomIsDecidedByTheRealAddress() throws IOException {
        ListenerConfig config = Configs.tcp().trusting("127.0.0.0/8").build();
        try (TestListeners broker = TestListeners.bound(config, Configs.limits(100, 5, 4, 0))) {
            broker.connectAtOnce = false;
            List<WireClient> clients = new ArrayList<>();
            for (int i = 0; i < 6; i++) { // the event loops take turns
                String client = i == 1 ? "192.0.2.8" : i == 5 ? "192.0.2.9" : "192.0.2.7";
                clients.add(WireClient.tcp(broker.address()));
                clients.get(i).sendRaw("PROXY TCP4 " + client + " 198.51.100.1 1 1883\r\n");
                assertThat(clients.get(i).echo("x")).isEqualTo("x");
            }
            assertThat(clients.remove(3).ended()).isTrue(); // 1 is older, and on the same event loop
            assertThat(broker.refused).containsExactly("limits.max-pending-connections");
            for (WireClient client : clients) {
                assertThat(client.echo("y")).isEqualTo("y");
                client.close();
            }
            await().until(() -> broker.listeners.pendingCount() == 0);
            assertThat(broker.listeners.pendingBytes()).isZero();
        }
    }

    @Test
    void connectionsOfAProxyHaveNoLimitOfAnAddressBeforeTheirHeaders() throws IOException {
        ListenerConfig config = Configs.tcp().trusting("127.0.0.0/8").build();
        try (TestListeners broker = TestListeners.bound(config, Configs.limits(100, 100, 1, 0))) {
            broker.connectAtOnce = false;
            List<WireClient> clients = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                clients.add(WireClient.tcp(broker.address()));
            }
            await().until(() -> broker.listeners.pendingCount() == 3);
            for (int i = 0; i < 2; i++) {
                clients.get(i).sendRaw("PROXY TCP4 192.0.2." + i + " 198.51.100.1 1 1883\r\n");
                assertThat(clients.get(i).echo("x")).isEqualTo("x");
            }
            clients.get(2).sendRaw("PROXY UNKNOWN\r\n"); // the proxy itself
            assertThat(clients.get(2).echo("x")).isEqualTo("x");
            assertThat(broker.refused).isEmpty();
            for (WireClient client : clients) {
                client.close();
            }
        }
    }

    @Test
    void theHeaderComesBeforeTlsAndWebSocket(@TempDir Path directory) throws Exception {
        TestCertificates certificates = new TestCertificates(directory);
        TlsConfig tls = certificates.server("CN=localhost", TlsConfig.ClientAuth.NONE);
        ListenerConfig config = Configs.ws().tls(tls).trusting("127.0.0.1").build();
        try (TestListeners broker = TestListeners.bound(config);
                WireClient plain = WireClient.tcp(broker.address())) {
            plain.sendRaw("PROXY TCP4 192.0.2.7 198.51.100.1 50000 1883\r\n");
            try (WireClient client = new WireClient(
                    certificates.client(null).getSocketFactory().createSocket(plain.socket, "localhost", 0, true))) {
                client.sendRaw(WebSocketClient.REQUEST);
                client.sendRaw(WebSocketClient.frame(0x82, "x"));
                byte[] response = client.receive(12);
                assertThat(response).asString().isEqualTo("HTTP/1.1 101");
                await().until(() -> !broker.accepted.isEmpty()); // the answer goes out first
                assertThat(broker.accepted.get(0).remoteAddress()).isEqualTo(new InetSocketAddress("192.0.2.7", 50000));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "10.0.0.0/33",
                "10.0.0/8",
                "host.example",
                "10.0.0.0/x",
                "10.0.0.0/",
                "",
                "::/129",
                "/8",
                "::ffff:10.0.0.0/104"
            })
    void aNetworkThatIsNoneStopsTheStart(String network) {
        assertThatThrownBy(() -> Network.parse("listeners.one.trusted-proxies", network))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("listeners.one.trusted-proxies")
                .hasMessageContaining("'" + network + "'");
        assertThatThrownBy(() ->
                        TestListeners.bound(Configs.tcp().trusting(network).build()))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("trusted-proxies");
    }

    private static TestListeners bound() {
        return TestListeners.bound(Configs.tcp().trusting("127.0.0.1").build());
    }

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }
}
