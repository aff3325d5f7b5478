// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static io.smqtt.cluster.BrokerCluster.PATIENCE;
import static io.smqtt.cluster.BrokerCluster.receive;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.smqtt.config.BrokerConfigBuilder;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.TlsConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.EnhancedAuthenticator;
import io.smqtt.spi.Grants;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PropertyBytes;
import java.io.ByteArrayOutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

/** Clients of a front node by all ways in which clients come: TLS with a certificate, WebSocket, AUTH packets, the oldest version. */
class FrontClientsTest {

    private static final BrokerCluster CLUSTER = new BrokerCluster();
    private static final String METHOD = "STEPS";
    private static final int DATA = 0x16;
    private static final X509Bundle AUTHORITY = bundle("CN=clients", null);

    @RegisterExtension
    static final BrokerExtension KEEPER = CLUSTER.keeperWith(
            parts -> parts.authenticator(FrontClientsTest::accept).enhancedAuthenticator(new Steps()));

    @RegisterExtension
    static final BrokerExtension FRONT = CLUSTER.frontWith(FrontClientsTest::listeners);

    private static X509Bundle bundle(String subject, X509Bundle authority) {
        try {
            CertificateBuilder builder = new CertificateBuilder().ecp256().subject(subject);
            return authority == null
                    ? builder.setIsCertificateAuthority(true).buildSelfSigned()
                    : builder.addSanDnsName("localhost").buildIssuedBy(authority);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static BrokerConfigBuilder listeners(BrokerConfigBuilder config) {
        ListenerConfig tcp = ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build();
        ListenerConfig ws = ListenerConfig.of(ListenerConfig.Type.WS).toBuilder()
                .host("127.0.0.1")
                .port(0)
                .build();
        try {
            Path directory = Files.createTempDirectory("front-clients");
            X509Bundle server = bundle("CN=server", AUTHORITY);
            TlsConfig tls = TlsConfig.builder(
                            Files.writeString(directory.resolve("server.pem"), server.getCertificatePathPEM()),
                            Files.writeString(directory.resolve("server.key"), server.getPrivateKeyPEM()))
                    .clientCa(Files.writeString(directory.resolve("ca.pem"), AUTHORITY.getCertificatePEM()))
                    .clientAuth(TlsConfig.ClientAuth.REQUIRED)
                    .userName(TlsConfig.CertificateUserName.CN)
                    .build();
            return config.listeners(
                    Map.of("mqtt", tcp, "tls", tcp.toBuilder().tls(tls).build(), "ws", ws));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static Mono<Authentication> accept(AuthenticationRequest request) {
        return Mono.just(new Authentication.Accepted(request.userName(), Set.of(), Grants.NONE));
    }

    private static InetSocketAddress address(String listener) {
        return FRONT.broker().listeners().get(listener);
    }

    private static ClientIdentity identity(String clientId) {
        assertThat(CLUSTER.servers(clientId)).containsExactly(0);
        return KEEPER.broker().client(clientId).block().info().identity();
    }

    @Test
    void aCertificateIsVerifiedByTheFrontAndNamesTheUserAtTheNode() throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        KeyManager[] own = bundle("CN=alice", AUTHORITY).toKeyManagerFactory().getKeyManagers();
        context.init(own, AUTHORITY.toTrustManagerFactory().getTrustManagers(), null);
        try (Socket socket = context.getSocketFactory()
                        .createSocket(
                                address("tls").getAddress(), address("tls").getPort());
                RawClient client =
                        RawClient.over(socket, ProtocolVersion.MQTT_5).deadline(PATIENCE)) {
            client.connect(ConnectBytes.of("certified").persistent(1_000));
            client.subscribe("certified", 1);

            KEEPER.client(ProtocolVersion.MQTT_5, "direct").publish("certified", "x".repeat(200_000), 1);

            receive(client, "x".repeat(200_000));
            assertThat(identity("certified").userName()).isEqualTo("alice");
            assertThat(identity("certified").listener()).isEqualTo("tls");
            assertThat(CLUSTER.frontOf(0, "certified")).isEqualTo("b");
        }
    }

    @Test
    void webSocketsAreRelayed() throws Exception {
        Answers answers = new Answers();
        WebSocket socket = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .subprotocols("mqtt")
                .buildAsync(URI.create("ws://127.0.0.1:" + address("ws").getPort() + "/mqtt"), answers)
                .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        byte[] connect = ConnectBytes.of("web").persistent(1_000).toBytes(ProtocolVersion.MQTT_3_1_1);
        socket.sendBinary(ByteBuffer.wrap(connect, 0, 3), true).join();
        socket.sendBinary(ByteBuffer.wrap(connect, 3, connect.length - 3), true).join();

        assertThat(answers.first(4)).containsExactly(0x20, 2, 0, 0);
        assertThat(identity("web").listener()).isEqualTo("ws");
        socket.abort();
        KEEPER.awaitOffline("web");
    }

    @Test
    void authPacketsPassBeforeAndAfterTheConnAck() {
        RawClient client = FRONT.open(ProtocolVersion.MQTT_5).deadline(PATIENCE);
        ConnectBytes connect = ConnectBytes.of("stepped").persistent(1_000);
        connect.properties().authenticationMethod(METHOD).authenticationData(text("first"));
        client.send(connect);
        assertThat((byte[]) client.expect(MqttMessageType.AUTH).property(DATA)).isEqualTo(text("first?"));
        client.send(auth(0x18, "second"));
        assertThat(client.expect(MqttMessageType.CONNACK).reasonCode()).isZero();
        assertThat(identity("stepped").userName()).isEqualTo("second");

        client.send(auth(0x19, "first"));
        client.expect(MqttMessageType.AUTH);
        client.send(auth(0x18, "second"));

        assertThat(client.expect(MqttMessageType.AUTH).reasonCode()).isZero();
        client.ping();
    }

    @Test
    void aClientOfTheOldestVersionFindsItsSession() {
        for (int i = 0; i < 2; i++) {
            RawClient client = FRONT.open(ProtocolVersion.MQTT_3_1).deadline(PATIENCE);
            client.connect(ConnectBytes.of("old").persistent(1_000));
            if (i == 0) {
                client.subscribe("old", 1);
                client.disconnect();
                KEEPER.awaitOffline("old");
                KEEPER.client(ProtocolVersion.MQTT_5, "publisher").publish("old", "stored", 1);
            } else {
                receive(client, "stored");
            }
        }
        identity("old");
    }

    @Test
    void theKeepAliveOfAClientIsThatOfTheNode() {
        RawClient client = FRONT.open(ProtocolVersion.MQTT_5).deadline(PATIENCE);
        client.connect(ConnectBytes.of("silent").persistent(1_000).keepAlive(10));
        KEEPER.ticker().advance(Duration.ofSeconds(14));
        client.ping();
        KEEPER.ticker().advance(Duration.ofSeconds(14));
        client.ping();

        KEEPER.ticker().advance(Duration.ofSeconds(16));

        client.expectDisconnect(ReasonCode.KEEP_ALIVE_TIMEOUT);
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static PacketBytes auth(int reason, String data) {
        return PacketBytes.packet(0xF0)
                .u8(reason)
                .properties(PropertyBytes.none()
                        .authenticationMethod(METHOD)
                        .authenticationData(text(data))
                        .fields());
    }

    /** Asks once, and takes the second answer for the name of the user. */
    private static final class Steps implements EnhancedAuthenticator {

        @Override
        public String method() {
            return METHOD;
        }

        @Override
        public Exchange begin(AuthenticationRequest request) {
            return data -> Mono.just(
                    Arrays.equals(data, text("first"))
                            ? new Step.Challenge(text("first?"))
                            : new Step.Success("second", Set.of(), null));
        }
    }

    /** Collects what comes over a WebSocket. */
    private static final class Answers implements WebSocket.Listener {

        private final ByteArrayOutputStream all = new ByteArrayOutputStream();
        private final CompletableFuture<byte[]> enough = new CompletableFuture<>();

        @Override
        public CompletionStage<?> onBinary(WebSocket socket, ByteBuffer data, boolean last) {
            byte[] bytes = new byte[data.remaining()];
            data.get(bytes);
            all.writeBytes(bytes);
            if (all.size() >= 4) {
                enough.complete(all.toByteArray());
            }
            socket.request(1);
            return CompletableFuture.completedFuture(null);
        }

        byte[] first(int count) throws Exception {
            return Arrays.copyOf(enough.get(PATIENCE.toSeconds(), TimeUnit.SECONDS), count);
        }
    }
}
