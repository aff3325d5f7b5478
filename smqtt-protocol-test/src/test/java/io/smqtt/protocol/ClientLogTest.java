// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static io.netty.handler.codec.mqtt.MqttMessageType.PUBACK;
import static io.smqtt.message.ProtocolVersion.MQTT_5;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.smqtt.config.ListenerConfig;
import io.smqtt.connection.ClientLog;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

/** What is logged of clients, and how their refusals are counted. */
class ClientLogTest {

    private static final String HELLO = "16030100050100000100ff";
    private static final String GET = "474554202f20485454502f312e310d0a0d0a";
    private static final String CONNECT = "100d00044d5154540402003c000161";

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final List<String> refused = new CopyOnWriteArrayList<>();
    private final Logger logger = (Logger) LoggerFactory.getLogger(ClientLog.class);
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            lines.add(event.getThrowableProxy() == null ? event.getFormattedMessage() : "a stack trace");
        }
    };

    @RegisterExtension
    final BrokerExtension broker = new BrokerExtension(
            config -> config.listeners(Map.of(
                    "mqtt", ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build(),
                    "ws", ListenerConfig.ws(0).toBuilder().host("127.0.0.1").build())),
            builder -> builder.authorizer(
                            request -> (request.topic().startsWith("secret") && request.action() != AccessAction.RECEIVE
                                            ? AccessDecision.DENY
                                            : AccessDecision.ALLOW)
                                    .now())
                    .observer(new BrokerObserver() {
                        @Override
                        public void connectionRefused(String listener, String reason) {
                            refused.add(listener + ' ' + reason);
                        }
                    }));

    @BeforeEach
    void listen() {
        logger.setLevel(Level.INFO);
        appender.start();
        logger.addAppender(appender);
    }

    @AfterEach
    void leave() {
        logger.detachAppender(appender);
    }

    @Test
    void connectsAndDisconnectsAreALineEach() {
        RawClient client = broker.client(MQTT_5, "c1");
        client.disconnect();

        await().untilAsserted(() -> assertThat(lines).hasSize(2));
        assertThat(lines.get(0)).startsWith("c1 connected from 127.0.0.1:").contains(" on mqtt: MQTT 5.0, new session");
        assertThat(lines.get(1)).isEqualTo("c1 disconnected: by the client");
    }

    @Test
    void deniedPublishesAndSubscriptionsAreALineEachEscapedAndLimited() {
        RawClient client = broker.client(MQTT_5, "c1");
        client.subscribe("secret/a\u202eb", 0);
        for (int i = 0; i < 100; i++) {
            client.send(PublishBytes.to("secret/t").qos(1, 9)).expect(PUBACK);
        }

        assertThat(lines)
                .anyMatch(line ->
                        line.startsWith("c1 from 127.0.0.1:") && line.endsWith(": subscribe denied: secret/a\\u202eb"))
                .anyMatch(line -> line.endsWith(": publish denied: secret/t"))
                .hasSizeLessThan(30);
    }

    @ParameterizedTest
    @CsvSource({
        "mqtt, " + GET + ", HTTP on a port for MQTT",
        "mqtt, " + HELLO + ", TLS on a port for MQTT",
        "ws, " + CONNECT + ", MQTT on a port for WebSocket",
        "ws, " + HELLO + ", TLS on a port for WebSocket"
    })
    void anotherProtocolIsNamed(String listener, String hex, String what) throws IOException {
        send(listener, HexFormat.of().parseHex(hex));

        assertThat(refused).containsExactly(listener + " wrong-protocol");
        assertThat(lines).singleElement().asString().contains("refused: wrong-protocol, " + what);
    }

    @ParameterizedTest
    @CsvSource({"/other, http-path", "/mqtt, http-request"})
    void aWrongWebSocketRequestIsNamed(String path, String reason) throws IOException {
        send("ws", ("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(StandardCharsets.US_ASCII));

        assertThat(refused).containsExactly("ws " + reason);
        assertThat(lines).singleElement().asString().contains("on ws refused: " + reason + ", ");
    }

    /** Sends bytes and reads to the end. */
    private void send(String listener, byte[] bytes) throws IOException {
        InetSocketAddress address =
                Objects.requireNonNull(broker.broker().listeners().get(listener));
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(bytes);
            socket.getInputStream().readAllBytes();
        }
    }
}
