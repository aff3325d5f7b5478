// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PublishBytes;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bridges of this broker to a mosquitto. */
class BridgeIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"5", "3.1.1"})
    void messagesGoBothWaysOnceAndInOrder(String version) throws Exception {
        int port = LoopbackPorts.one();
        try (CapturedProcess mosquitto = mosquitto(port);
                BrokerProcess broker = broker(port, version);
                RawClient here = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                RawClient there = RawClient.to(address(port), ProtocolVersion.MQTT_5);
                RawClient publisherHere = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                RawClient publisherThere = RawClient.to(address(port), ProtocolVersion.MQTT_5)) {
            publisherHere.connect("publisher-here");
            publisherThere.connect("publisher-there");
            here.connect("here");
            here.subscribe("#", 0);
            there.connect("there");
            there.subscribe("#", 0);
            awaitForwarding(publisherHere, there, "out/up", "plant/out/up");
            awaitForwarding(publisherThere, here, "in/up", "in/up");
            here.expectNothingBut(packet -> {});
            there.expectNothingBut(packet -> {});

            List<String> sent = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                publisherHere.publish("both/here", i % 3 + "h" + i, i % 3);
                publisherThere.publish("both/there", i % 3 + "t" + i, i % 3);
                sent.add(i % 3 + "h" + i);
                sent.add(i % 3 + "t" + i);
            }

            assertPayloads(here, sent);
            assertPayloads(there, sent);
        }
    }

    @Test
    void messagesWaitInTheStoreWhileBothBrokersAreKilled() throws Exception {
        int port = LoopbackPorts.one();
        List<String> expected = new ArrayList<>();
        try (CapturedProcess mosquitto = mosquitto(port);
                BrokerProcess broker = broker(port, "5");
                RawClient here = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                RawClient there = RawClient.to(address(port), ProtocolVersion.MQTT_5)) {
            here.connect("here");
            there.connect("there");
            there.subscribe("plant/#", 0);
            awaitForwarding(here, there, "out/up", "plant/out/up");
            mosquitto.kill();
            for (int i = 0; i < 200; i++) {
                here.publish("out/queued", 1 + i % 2 + "q" + i, 1 + i % 2);
                expected.add(1 + i % 2 + "q" + i);
            }
            broker.kill9();
        }
        try (CapturedProcess mosquitto = mosquitto(port);
                RawClient there = RawClient.to(address(port), ProtocolVersion.MQTT_5)) {
            there.connect("later");
            there.subscribe("plant/#", 0);
            try (BrokerProcess broker = broker(port, "5")) {
                assertPayloads(there, expected);
                assertThat(broker.port("tcp")).isPositive();
            }
        }
    }

    /** Subscriptions are part of the session that the other broker keeps. */
    @Test
    void aTopicThatIsNoLongerConfiguredIsUnsubscribedAfterARestart() throws Exception {
        int port = LoopbackPorts.one();
        try (CapturedProcess mosquitto = mosquitto(port)) {
            try (BrokerProcess broker = broker(port, "5")) {
                broker.awaitLine("bridge cloud connected");
                mosquitto.awaitLine("SUBACK", line -> line.contains("Sending SUBACK to plant"), PATIENCE);
                broker.terminate();
                assertThat(broker.awaitExit(PATIENCE)).isZero();
            }
            try (BrokerProcess broker = broker(port, "5", "\"both/# both 2\"")) {
                broker.awaitLine("bridge cloud connected");
                mosquitto.awaitLine("UNSUBSCRIBE", line -> line.contains("Received UNSUBSCRIBE from plant"), PATIENCE);
                mosquitto.awaitLine("UNSUBACK", line -> line.contains("Sending UNSUBACK to plant"), PATIENCE);
                List<String> output = mosquitto.output();
                int at = IntStream.range(0, output.size())
                        .filter(i -> output.get(i).contains("Received UNSUBSCRIBE"))
                        .findFirst()
                        .orElseThrow();
                assertThat(output.get(at + 1)).endsWith("\tin/#");
            }
        }
    }

    /** Ten messages in flight, no QoS 2, no large packets, nothing retained: what fits comes once and in order, what does not is counted. */
    @Test
    void aNarrowBrokerGetsWhatFits() throws Exception {
        int port = LoopbackPorts.one();
        String limits = "max_qos 1\nmax_inflight_messages 10\nmax_packet_size 131072\nretain_available false\n";
        try (CapturedProcess mosquitto = mosquitto(port, limits);
                BrokerProcess broker = broker(port, "5");
                RawClient here = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                RawClient there = RawClient.to(address(port), ProtocolVersion.MQTT_5)) {
            here.connect("here");
            there.connect("there");
            there.subscribe("plant/#", 1);
            broker.awaitLine("bridge cloud connected");
            List<String> expected = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                int qos = i % 3;
                String text = qos + "h" + i + (i % 30 < 3 ? "x".repeat(120_000) : "");
                PublishBytes message =
                        PublishBytes.to("out/" + qos).payload(text).qos(qos);
                here.publish(i % 50 == 7 ? message.retained() : message);
                expected.add(text);
                if (i % 100 < 3) {
                    here.publish("out/large", qos + "x".repeat(140_000), qos);
                }
            }
            List<String> received = new ArrayList<>();
            while (received.size() < expected.size()) {
                ReceivedPacket message = there.expect(MqttMessageType.PUBLISH);
                received.add(message.text());
                if (message.qos() == 1) {
                    there.pubAck(message);
                }
            }
            there.expectNothing();
            for (String qos : List.of("0", "1", "2")) {
                assertThat(received.stream().filter(text -> text.startsWith(qos)))
                        .containsExactlyElementsOf(expected.stream()
                                .filter(text -> text.startsWith(qos))
                                .toList());
            }
            broker.awaitLine("topic out/large: it is larger than the Maximum Packet Size of the other broker");
            RestApi api = RestApi.of(broker)
                    .token(Files.readString(directory.resolve("data/management.token"))
                            .strip());
            await().atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertThat(api.get("/bridges/mqtt:cloud").text())
                                    .contains(
                                            "\"sent\":300,",
                                            "\"resent\":0,",
                                            "\"queuing\":0,",
                                            "\"dropped\":9,",
                                            "\"refused\":0"));
            try (RawClient later = RawClient.to(address(port), ProtocolVersion.MQTT_5)) {
                later.connect("later");
                later.subscribe("plant/#", 1);
                later.expectNothing(); // none was retained
            }
            assertThat(mosquitto.output()).noneMatch(line -> line.contains("protocol error"));
        }
    }

    private BrokerProcess broker(int port, String version) throws Exception {
        return broker(port, version, "\"out/# out 2 \\\"\\\" plant/\", \"in/# in 2\", \"both/# both 2\"");
    }

    private BrokerProcess broker(int port, String version, String topics) throws Exception {
        Path file = Files.writeString(directory.resolve("test.yaml"), """
                management:
                  port: 0
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
                    min-delay: 100ms
                    max-delay: 1s
                    topics: [%s]
                """.formatted(port, version, topics));
        return BrokerProcess.start(directory, List.of(), file);
    }

    private CapturedProcess mosquitto(int port) throws Exception {
        return mosquitto(port, "");
    }

    private CapturedProcess mosquitto(int port, String limits) throws Exception {
        Path conf = Files.writeString(directory.resolve("mosquitto.conf"), """
                listener %d 127.0.0.1
                allow_anonymous true
                max_queued_messages 0
                log_type all
                %s""".formatted(port, limits));
        CapturedProcess mosquitto = CapturedProcess.start(
                "mosquitto", new ProcessBuilder(ForeignProgram.path("mosquitto"), "-c", conf.toString()));
        InstalledMosquitto.awaitListening(port, mosquitto);
        return mosquitto;
    }

    static InetSocketAddress address(int port) {
        return new InetSocketAddress("127.0.0.1", port);
    }

    /** Publishes messages without payload until one has passed; those behind it may come later. */
    static void awaitForwarding(RawClient from, RawClient to, String topic, String arrival) {
        Set<String> arrived = ConcurrentHashMap.newKeySet();
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(300)).until(() -> {
            from.publish(topic, "", 0);
            to.expectNothingBut(packet -> {
                if (packet.type() == MqttMessageType.PUBLISH) {
                    arrived.add(packet.topic());
                }
            });
            return arrived.contains(arrival);
        });
    }

    /** Takes exactly these messages, those of one publisher and QoS in their order, and nothing after them but ones without payload. */
    static void assertPayloads(RawClient client, List<String> expected) {
        List<String> received = new ArrayList<>();
        while (received.size() < expected.size()) {
            addPayload(received, client.expect(MqttMessageType.PUBLISH));
        }
        client.expectNothingBut(packet -> addPayload(received, packet));
        assertThat(received).containsExactlyInAnyOrderElementsOf(expected);
        for (String group : List.of("0h", "1h", "2h", "0t", "1t", "2t", "1q", "2q")) {
            assertThat(received.stream().filter(text -> text.startsWith(group)))
                    .containsExactlyElementsOf(expected.stream()
                            .filter(text -> text.startsWith(group))
                            .toList());
        }
    }

    private static void addPayload(List<String> received, ReceivedPacket packet) {
        if (!packet.text().isEmpty()) {
            received.add(packet.text());
        }
    }
}
