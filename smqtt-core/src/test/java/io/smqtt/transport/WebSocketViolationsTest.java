// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.ListenerConfig;
import java.io.IOException;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** WebSocket clients that break RFC 6455 or section 6 of MQTT, and what they get. */
final class WebSocketViolationsTest {

    private static final int MAX_FRAME = 1_000;

    private TestListeners broker;

    @BeforeEach
    void bind() {
        ListenerConfig config = Configs.ws()
                .maxPacketBytes(MAX_FRAME)
                .origins("https://good.example")
                .build();
        broker = TestListeners.bound(config);
    }

    @AfterEach
    void close() {
        broker.close();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "text frame, 1003, 8185000000006162636465",
        "unmasked frame, 1002, 82026162",
        "first reserved bit, 1002, c28100000000aa",
        "second reserved bit, 1002, a28100000000aa",
        "third reserved bit, 1002, 928100000000aa",
        "reserved data opcode, 1002, 838100000000aa",
        "reserved control opcode, 1002, 8b8100000000aa",
        "last reserved opcode, 1002, 8f8100000000aa",
        "continuation of nothing, 1002, 808100000000aa",
        "binary frame within a fragmented message, 1002, 02810000000011 828100000000aa",
        "fragmented ping, 1002, 098000000000",
        "fragmented close, 1002, 088000000000",
        "ping of 126 bytes, 1002, 89fe007e00000000",
        "unmasked ping, 1002, 8900",
        "length of 100 in two bytes, 1002, 82fe006400000000",
        "length of 1000 in eight bytes, 1002, 82ff00000000000003e800000000",
        "negative length, 1002, 82ffffffffffffffffff00000000",
        "frame of 2^62 bytes, 1009, 82ff400000000000000000000000",
        "frame over the cap, 1009, 82fe03e900000000",
        "close with half a code, 1002, 88810000000003",
        "close with a code that is never sent, 1002, 88820000000003ed",
    })
    void aBrokenFrameEndsTheConnectionWithItsCode(String what, int code, String hex) throws IOException {
        try (WebSocketClient client = WebSocketClient.connected(broker.address(), null)) {
            assertThat(client.status()).isEqualTo(101);
            // [MQTT-6.0.0-1] [MQTT311-6.0.0-1]
            client.sendRaw(HexFormat.of().parseHex(hex.replace(" ", "")));
            WebSocketClient.Frame frame = client.readFrame();
            if (frame.first() == 0x82) {
                frame = client.readFrame(); // what came before the violation was echoed
            }
            assertThat(frame.first()).as(what).isEqualTo(0x88);
            assertThat(frame.closeCode()).as(what).isEqualTo(code);
            assertThat(client.ended()).isTrue();
        }
    }

    @Test
    void fragmentsAreJoinedToOneStreamAroundControlFrames() throws IOException {
        try (WebSocketClient client = WebSocketClient.connected(broker.address(), null)) {
            client.sendRaw(WebSocketClient.frame(0x02, "ab"));
            client.sendRaw(WebSocketClient.frame(0x89, "ping"));
            client.sendRaw(WebSocketClient.frame(0x00, ""));
            client.sendRaw(WebSocketClient.frame(0x80, "cd"));
            client.sendRaw(WebSocketClient.frame(0x82, "ef"));

            StringBuilder echoed = new StringBuilder();
            boolean ponged = false;
            while (echoed.length() < 6 || !ponged) { // [MQTT-6.0.0-2] [MQTT311-6.0.0-2]
                WebSocketClient.Frame frame = client.readFrame();
                if (frame.first() == 0x8A) {
                    assertThat(frame.payload()).asString().isEqualTo("ping");
                    ponged = true;
                } else {
                    assertThat(frame.first()).isEqualTo(0x82);
                    echoed.append(new String(frame.payload()));
                }
            }
            assertThat(echoed).hasToString("abcdef");
        }
    }

    @Test
    void anUnsolicitedPongIsIgnored() throws IOException {
        try (WebSocketClient client = WebSocketClient.connected(broker.address(), null)) {
            client.sendRaw(WebSocketClient.frame(0x8A, "whatever"));
            assertThat(client.echo("x")).isEqualTo("x");
        }
    }

    @Test
    void aCloseIsAnsweredWithItsCode() throws IOException {
        try (WebSocketClient client = WebSocketClient.connected(broker.address(), null)) {
            client.sendRaw(WebSocketClient.frame(0x88, "\u0003\u00e9bye")); // 1001
            WebSocketClient.Frame frame = client.readFrame();
            assertThat(frame.first()).isEqualTo(0x88);
            assertThat(frame.closeCode()).isEqualTo(1001);
            assertThat(client.ended()).isTrue();
        }
    }

    @Test
    void theBrokerSaysGoodbyeWhenItCloses() throws IOException {
        try (WebSocketClient client = WebSocketClient.connected(broker.address(), null)) {
            client.sendRaw(WebSocketClient.frame(0x82, new byte[] {(byte) 0xFF}));
            assertThat(client.receive(1)).containsExactly(0xFF);
            WebSocketClient.Frame frame = client.readFrame();
            assertThat(frame.first()).isEqualTo(0x88);
            assertThat(frame.closeCode()).isEqualTo(1000);
        }
    }

    @Test
    void aConnectionCutWithinAFrameIsClosed() throws IOException {
        try (WebSocketClient client = WebSocketClient.connected(broker.address(), null)) {
            client.sendRaw(HexFormat.of().parseHex("82fe020000000000616263"));
            assertThat(client.receive(3)).asString().isEqualTo("abc");
            client.socket.shutdownOutput();
            client.in.readAllBytes();
            assertThat(broker.channels.get(0).closeFuture().awaitUninterruptibly(TestListeners.PATIENCE.toMillis()))
                    .isTrue();
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "other path | 404 | GET /other HTTP/1.1 | - | -",
                "path traversal | 404 | GET /mqtt/../../etc/passwd HTTP/1.1 | - | -",
                "path of a prefix | 404 | GET /mqttx HTTP/1.1 | - | -",
                "POST | 400 | POST /mqtt HTTP/1.1 | - | -",
                "HTTP/1.0 | 400 | GET /mqtt HTTP/1.0 | - | -",
                "HTTP/2 | 400 | GET /mqtt HTTP/2.0 | - | -",
                "no upgrade | 426 | GET /mqtt HTTP/1.1 | Upgrade: websocket | -",
                "upgrade to something else | 426 | GET /mqtt HTTP/1.1 | Upgrade: websocket | Upgrade: h2c",
                "no Connection: Upgrade | 426 | GET /mqtt HTTP/1.1 | Connection: keep-alive, Upgrade | -",
                "other version | 426 | GET /mqtt HTTP/1.1 | Sec-WebSocket-Version: 13 | Sec-WebSocket-Version: 8",
                "no key | 400 | GET /mqtt HTTP/1.1 | Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ== | -",
                "short key | 400 | GET /mqtt HTTP/1.1 | Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ== | Sec-WebSocket-Key: YQ==",
                "two keys | 400 | GET /mqtt HTTP/1.1 | - | Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                "no host | 400 | GET /mqtt HTTP/1.1 | Host: localhost | -",
                "no subprotocol | 400 | GET /mqtt HTTP/1.1 | Sec-WebSocket-Protocol: mqtt | -",
                // [MQTT311-6.0.0-3]
                "other subprotocol | 400 | GET /mqtt HTTP/1.1 | Sec-WebSocket-Protocol: mqtt | Sec-WebSocket-Protocol: chat",
                "wrong origin | 403 | GET /mqtt HTTP/1.1 | - | Origin: https://evil.example",
                "origin that begins right | 403 | GET /mqtt HTTP/1.1 | - | Origin: https://good.example.evil",
                "request with content | 400 | GET /mqtt HTTP/1.1 | - | Content-Length: 5\\r\\n\\r\\nhello",
                "garbage | 400 | gar bage | - | -",
                "bad header | 400 | GET /mqtt HTTP/1.1 | - | no colon",
            })
    void aBadHandshakeIsRefused(String what, int status, String line, String without, String with) throws IOException {
        // [MQTT-6.0.0-3] [MQTT311-6.0.0-3]
        try (WebSocketClient client = WebSocketClient.raw(broker.address(), null)) {
            String headers = without.equals("-") ? WebSocketClient.HEADERS : removed(without);
            String more = with.equals("-") ? "" : with.replace("\\r\\n", "\r\n") + "\r\n";
            client.sendRaw(line + "\r\n" + headers + more + "\r\n");
            client.readResponse();
            assertThat(client.status()).as(what).isEqualTo(status);
            assertThat(client.ended()).isTrue();
            assertThat(broker.accepted).isEmpty();
        }
    }

    private static String removed(String header) {
        assertThat(WebSocketClient.HEADERS).contains(header + "\r\n");
        return WebSocketClient.HEADERS.replace(header + "\r\n", "");
    }

    @Test
    void aFloodOfHeadersIsRefused() throws IOException {
        try (WebSocketClient client = WebSocketClient.raw(broker.address(), null)) {
            client.sendRaw("GET /mqtt HTTP/1.1\r\n" + "X-Flood: 0123456789\r\n".repeat(450) + "\r\n");
            client.readResponse();
            assertThat(client.status()).isEqualTo(431);
            assertThat(client.ended()).isTrue();
        }
    }

    @Test
    void anEndlessRequestLineIsRefused() throws IOException {
        try (WebSocketClient client = WebSocketClient.raw(broker.address(), null)) {
            client.sendRaw("GET /" + "m".repeat(5_000) + " HTTP/1.1\r\n\r\n");
            client.readResponse();
            assertThat(client.status()).isEqualTo(400);
            assertThat(client.ended()).isTrue();
        }
    }

    @Test
    void theHandshakeIsAnsweredByTheStandardAndOffersNoExtension() throws IOException {
        try (WebSocketClient client = WebSocketClient.raw(broker.address(), null)) {
            client.sendRaw("GET /mqtt?user=x HTTP/1.1\r\n" + WebSocketClient.HEADERS
                    + "Origin: https://good.example\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n");
            String response = client.readResponse().toLowerCase(java.util.Locale.ROOT);
            assertThat(response)
                    .startsWith("http/1.1 101 ")
                    .contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=\r\n") // RFC 6455, section 1.3
                    .contains("sec-websocket-protocol: mqtt\r\n") // [MQTT-6.0.0-4] [MQTT311-6.0.0-4]
                    .doesNotContain("extensions");
        }
    }

    @ParameterizedTest(name = "{0} -> {1}")
    @CsvSource(
            delimiter = '|',
            value = {"mqttv3.1 | mqttv3.1", "mqttv3.1, mqtt | mqtt", "chat,mqtt | mqtt", "chat , mqttv3.1 | mqttv3.1"})
    void theSubprotocolIsChosenFromThoseOffered(String offered, String chosen) throws IOException {
        try (WebSocketClient client = WebSocketClient.raw(broker.address(), null)) {
            client.sendRaw("GET /mqtt HTTP/1.1\r\n"
                    + WebSocketClient.HEADERS.replace("Protocol: mqtt", "Protocol: " + offered) + "\r\n");
            assertThat(client.readResponse().toLowerCase(java.util.Locale.ROOT))
                    .contains("sec-websocket-protocol: " + chosen + "\r\n");
        }
    }

    @Test
    void bytesThatFollowTheRequestAtOnceAreNotLost() throws IOException {
        try (WebSocketClient client = WebSocketClient.raw(broker.address(), null)) {
            client.sendRaw(WebSocketClient.REQUEST
                    + new String(WebSocketClient.frame(0x82, "early"), java.nio.charset.StandardCharsets.ISO_8859_1));
            client.readResponse();
            assertThat(client.receive(5)).asString().isEqualTo("early");
        }
    }

    @Test
    void oneBadClientDisturbsNoOther() throws IOException {
        try (WebSocketClient good = WebSocketClient.connected(broker.address(), null);
                WebSocketClient bad = WebSocketClient.connected(broker.address(), null)) {
            bad.sendRaw(WebSocketClient.frame(0x81, "text"));
            assertThat(bad.readFrame().closeCode()).isEqualTo(1003);
            assertThat(good.echo("fine")).isEqualTo("fine");
        }
    }
}
