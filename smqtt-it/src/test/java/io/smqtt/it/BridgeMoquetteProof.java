// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A bridge to a Moquette, the jars of which {@code smqtt-benchmark/bin/peers moquette} brings. Run by {@code smqtt-it/prove bridge-moquette}. */
class BridgeMoquetteProof {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int MESSAGES = 300;
    private static final String VERSION = "it does not speak MQTT 5.0, so set version to 3.1.1";
    private static final String PEERS = System.getenv().getOrDefault("PEERS_DIR", "../smqtt-benchmark/target/peers");

    @TempDir
    Path directory;

    /** Moquette 0.17 answers a CONNECT of MQTT 5.0 with CONNACK 0x01. */
    @Test
    void aMoquetteThatDoesNotSpeakMqtt5IsOneClearLine() throws Exception {
        int port = LoopbackPorts.one();
        try (CapturedProcess moquette = moquette(port);
                BrokerProcess broker = broker(port, "5")) {
            await().atMost(PATIENCE).until(() -> broker.output().stream().anyMatch(line -> line.contains(VERSION)));
            broker.output().stream()
                    .filter(line -> line.contains("bridge cloud"))
                    .forEach(System.out::println);
            assertThat(moquette.process().isAlive()).isTrue();
        }
    }

    @Test
    void messagesGoBothWaysOnceAndWaitWhileItIsAway() throws Exception {
        String version = "3.1.1";
        int port = LoopbackPorts.one();
        try (BrokerProcess broker = broker(port, version);
                RawClient publisherHere = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            publisherHere.connect("publisher-here");
            try (CapturedProcess moquette = moquette(port);
                    RawClient here = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                    RawClient there = RawClient.to(BridgeIT.address(port), ProtocolVersion.MQTT_3_1_1);
                    RawClient publisherThere = RawClient.to(BridgeIT.address(port), ProtocolVersion.MQTT_3_1_1)) {
                publisherThere.connect("publisher-there");
                here.connect("here");
                here.subscribe("in/#", 0);
                there.connect("there");
                there.subscribe("plant/#", 0);
                BridgeIT.awaitForwarding(publisherHere, there, "out/up", "plant/out/up");
                BridgeIT.awaitForwarding(publisherThere, here, "in/up", "in/up");
                here.expectNothingBut(packet -> {});
                there.expectNothingBut(packet -> {});
                BridgeIT.assertPayloads(there, publish(publisherHere, "out/here", "h", 0));
                BridgeIT.assertPayloads(here, publish(publisherThere, "in/there", "t", 0));
                moquette.kill();
            }
            List<String> queued = publish(publisherHere, "out/queued", "q", 1);
            try (CapturedProcess moquette = moquette(port);
                    RawClient there = RawClient.to(BridgeIT.address(port), ProtocolVersion.MQTT_3_1_1)) {
                there.connect("later");
                there.subscribe("plant/#", 0);
                BridgeIT.assertPayloads(there, queued);
                System.out.printf(
                        "MQTT %s, process %d: %d messages of QoS 0 to 2 in each direction, and %d that waited%n",
                        version, moquette.process().pid(), MESSAGES, queued.size());
            }
        }
    }

    private static List<String> publish(RawClient client, String topic, String mark, int lowestQos) {
        List<String> sent = new ArrayList<>();
        for (int i = 0; i < MESSAGES; i++) {
            int qos = lowestQos + i % (3 - lowestQos);
            client.publish(topic, qos + mark + i, qos);
            sent.add(qos + mark + i);
        }
        return sent;
    }

    private BrokerProcess broker(int port, String version) throws Exception {
        Path file = Files.writeString(directory.resolve("test.yaml"), """
                management:
                  enabled: false
                access:
                  allow-anonymous: loopback
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: 0
                  ws:
                    enabled: false
                bridges:
                  cloud:
                    addresses: [127.0.0.1:%d]
                    client-id: plant
                    version: "%s"
                    min-delay: 1s
                    max-delay: 2s
                    topics: ["out/# out 2 \\"\\" plant/", "in/# in 2"]
                """.formatted(port, version));
        return BrokerProcess.start(directory, List.of(), file);
    }

    private CapturedProcess moquette(int port) throws IOException {
        Path jars = Path.of(PEERS, "moquette").toAbsolutePath();
        if (!Files.isDirectory(jars)) {
            throw ForeignProgram.missing(jars + " (smqtt-benchmark/bin/peers moquette)");
        }
        Path home = Files.createDirectories(directory.resolve("moquette"));
        Files.writeString(
                Files.createDirectories(home.resolve("config")).resolve("moquette.conf"), """
                host 127.0.0.1
                port %d
                allow_anonymous true
                persistence_enabled false
                telemetry_enabled false
                """.formatted(port));
        CapturedProcess moquette = CapturedProcess.start(
                "moquette",
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java")
                                        .toString(),
                                "-Dmoquette.path=" + home,
                                "-cp",
                                jars + "/*",
                                "io.moquette.broker.Server")
                        .directory(home.toFile()));
        await().atMost(PATIENCE).until(() -> {
            try (Socket socket = new Socket("127.0.0.1", port)) {
                return socket.isConnected();
            } catch (IOException e) {
                return false;
            }
        });
        return moquette;
    }
}
