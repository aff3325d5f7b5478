// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PropertyBytes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The example of {@code docs/access-jwt.md}: its keys, its configuration and its commands, with the real program. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AccessJwtIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private Path directory = Path.of("");
    private DocumentPage page = new DocumentPage("");
    private final AtomicReference<String> keySet = new AtomicReference<>("");
    private final AtomicInteger status = new AtomicInteger(200);
    private HttpServer server;
    private BrokerProcess broker;

    @BeforeAll
    void start(@TempDir Path temporary) throws IOException {
        directory = temporary;
        ForeignProgram.path("openssl");
        ForeignProgram.path("mosquitto_pub");
        page = DocumentPage.read("access-jwt.md");
        Files.writeString(directory.resolve("token.sh"), page.block("sh", 0));
        assertThat(shell(page.block("bash", 0))).doesNotContain("rror");
        for (String name : List.of("one", "two", "three")) {
            shell("openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out " + name + ".key 2>&1; "
                    + "openssl pkey -in " + name + ".key -pubout -out " + name + ".pub");
        }
        keySet.set(set("one"));
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/jwks.json", this::answer);
        server.start();
        broker = LoopbackBroker.with(directory, chain(), "management.enabled=false", "storage.kind=memory");
    }

    @AfterAll
    void stop() {
        if (broker != null) {
            broker.close();
        }
        if (server != null) {
            server.stop(0);
        }
    }

    /** Both examples of the page as one chain. */
    private String chain() {
        String fleet = page.block("yaml", 1)
                .replace("8091", String.valueOf(server.getAddress().getPort()));
        return page.block("yaml", 0).replace("[tokens]", "[tokens, fleet]")
                + fleet.substring(fleet.indexOf("    fleet:"));
    }

    private void answer(HttpExchange exchange) throws IOException {
        byte[] body = keySet.get().getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status.get(), body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private String set(String... names) {
        return Stream.of(names).map(this::jwk).collect(Collectors.joining(",", "{\"keys\":[", "]}"));
    }

    private String jwk(String name) {
        try {
            String pem = Files.readString(directory.resolve(name + ".pub")).replaceAll("-----[A-Z ]+-----", "");
            RSAPublicKey key = (RSAPublicKey) KeyFactory.getInstance("RSA")
                    .generatePublic(
                            new X509EncodedKeySpec(Base64.getMimeDecoder().decode(pem)));
            byte[] modulus = key.getModulus().toByteArray(); // with a zero for the sign
            String encoded = Base64.getUrlEncoder()
                    .withoutPadding()
                    .encodeToString(Arrays.copyOfRange(modulus, 1, modulus.length));
            return "{\"kty\":\"RSA\",\"use\":\"sig\",\"kid\":\"" + name + "\",\"e\":\"AQAB\",\"n\":\"" + encoded
                    + "\"}";
        } catch (IOException | GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void commandsOfThePageGetTheirAnswers() {
        page.assertPublishAnswers(
                9,
                options -> shell(page.block("bash", 1) + "mosquitto_pub -h 127.0.0.1 -p " + broker.port("tcp") + " "
                        + options + "\n"));
    }

    @Test
    void keysOfAServerChangeWhileClientsConnect() {
        assertThat(publishWithKey("one")).isEmpty();

        keySet.set(set("one", "two"));
        assertThat(publishWithKey("two")).as("fetched for its kid").isEmpty();
        assertThat(publishWithKey("one")).isEmpty();

        keySet.set(set("two"));
        broker.signal("HUP");
        await().atMost(PATIENCE)
                .untilAsserted(
                        () -> assertThat(publishWithKey("one")).containsIgnoringCase("bad user name or password"));
        assertThat(publishWithKey("two")).isEmpty();

        status.set(500);
        broker.signal("HUP");
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(publishWithKey("three")).containsIgnoringCase("server unavailable"));
        assertThat(publishWithKey("two")).as("the last keys stay").isEmpty();

        keySet.set(set("two", "three"));
        status.set(200);
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(publishWithKey("three")).isEmpty());
    }

    /** The token has expired, but by less than the leeway. */
    @Test
    void aClientIsDisconnectedWhenItsTokenExpires() {
        String command = "TOKEN=$(sh token.sh issuer.key '{\"sub\":\"d4\",\"exp\":'$(($(date +%s) - 4))'}')\n"
                + "exec mosquitto_sub -d -h 127.0.0.1 -p " + broker.port("tcp")
                + " -V 5 -i d4 -u device -P \"$TOKEN\" -t t";
        try (CapturedProcess process = CapturedProcess.start(
                "mosquitto_sub", new ProcessBuilder("sh", "-c", command).directory(directory.toFile()))) {
            await().atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertThat(process.output()).anyMatch(line -> line.contains("DISCONNECT (160)")));
        }
    }

    /** Both tokens have expired, but by less than the leeway. */
    @Test
    void aClientThatSendsAFreshTokenStaysConnected() {
        RawClient idle = connected("d5");
        RawClient renewing = connected("d6");
        renewing.send(auth(token("d6", 3_600)));
        ReceivedPacket answer = renewing.expect(MqttMessageType.AUTH);
        assertThat(answer.reason()).isEqualTo(ReasonCode.SUCCESS);

        assertThat(idle.expect(MqttMessageType.DISCONNECT).reason()).isEqualTo(ReasonCode.MAXIMUM_CONNECT_TIME);
        renewing.ping();
        renewing.send(auth(token("d5", 3_600)));

        assertThat(renewing.expect(MqttMessageType.DISCONNECT).reason())
                .as("the token of another client")
                .isEqualTo(ReasonCode.NOT_AUTHORIZED);
        renewing.expectClosed();
    }

    private RawClient connected(String clientId) {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), broker.port("tcp"));
        RawClient client = RawClient.to(address, ProtocolVersion.MQTT_5).deadline(PATIENCE);
        ConnectBytes connect = ConnectBytes.of(clientId);
        connect.properties().authenticationMethod("OAUTH2-JWT").authenticationData(token(clientId, -6));
        client.send(connect);
        assertThat(client.expect(MqttMessageType.CONNACK).reason()).isEqualTo(ReasonCode.SUCCESS);
        return client;
    }

    private static PacketBytes auth(byte[] token) {
        return PacketBytes.packet(0xF0)
                .u8(ReasonCode.REAUTHENTICATE.value())
                .properties(PropertyBytes.none()
                        .authenticationMethod("OAUTH2-JWT")
                        .authenticationData(token)
                        .fields());
    }

    private byte[] token(String clientId, int seconds) {
        return shell("sh token.sh issuer.key '{\"sub\":\"" + clientId + "\",\"exp\":'$(($(date +%s) + " + seconds
                        + "))'}'")
                .strip()
                .getBytes(StandardCharsets.US_ASCII);
    }

    private String publishWithKey(String name) {
        return shell("TOKEN=$(sh token.sh " + name + ".key '{\"exp\":'$(($(date +%s) + 3600))'}' " + name + ")\n"
                + "mosquitto_pub -h 127.0.0.1 -p " + broker.port("tcp")
                + " -V 5 -q 1 -i d3 -u device -P \"$TOKEN\" -t t -m 1");
    }

    /** What the commands say. */
    private String shell(String commands) {
        try (CapturedProcess process =
                CapturedProcess.start("sh", new ProcessBuilder("sh", "-c", commands).directory(directory.toFile()))) {
            process.awaitExit(PATIENCE);
            return String.join("\n", process.output());
        }
    }
}
