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
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A mosquitto that dials this broker as a bridge, with its defaults. */
class MosquittoBridgeIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"mqttv31", "mqttv311"})
    void messagesGoBothWaysOnceAndStayRetained(String version) throws Exception {
        Files.writeString(
                directory.resolve("acl"), "topic readwrite #\npattern write $SYS/broker/connection/%c/state\n");
        int port = LoopbackPorts.one();
        try (BrokerProcess broker = start();
                CapturedProcess mosquitto = mosquitto(port, broker.port("tcp"), version);
                RawClient here = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                RawClient there = RawClient.to(new InetSocketAddress("127.0.0.1", port), ProtocolVersion.MQTT_5)) {
            mosquitto.awaitLine("the last SUBACK", line -> line.contains("Received SUBACK from local.plant"), PATIENCE);
            mosquitto.awaitLine("the state", line -> line.contains("Received PUBACK from local.plant"), PATIENCE);
            assertThat(mosquitto.output()).noneMatch(line -> line.contains("Connection Refused"));
            here.connect("here");
            here.subscribe("#", 2);
            there.connect("there");
            there.subscribe("#", 2);

            publish(here, "both/here", true);
            publish(there, "both/there", true);
            publish(here, "in/here", false);
            publish(there, "in/there", false);
            publish(there, "out/there", true);
            publish(here, "out/here", false);

            assertThat(received(here, "out/here"))
                    .containsExactlyInAnyOrder("both/here", "both/there", "in/here", "out/there", "out/here");
            assertThat(received(there, "in/here"))
                    .containsExactlyInAnyOrder("both/here", "both/there", "in/here", "in/there", "out/there");
            publish(here, "both/end", false);
            publish(there, "both/end", false);
            assertThat(received(here, "both/end", "both/end")).containsExactly("both/end", "both/end");
            assertThat(received(there, "both/end", "both/end")).containsExactly("both/end", "both/end");
            assertRetained(there, "both/here");
            assertRetained(here, "both/there");
            assertRetained(here, "out/there");
            assertShownAsBridge(broker);
        }
    }

    private BrokerProcess start() throws Exception {
        return LoopbackBroker.start(directory, "access.acl-file=acl");
    }

    private CapturedProcess mosquitto(int port, int remotePort, String version) throws Exception {
        Path conf = Files.writeString(directory.resolve("mosquitto.conf"), """
                listener %d 127.0.0.1
                allow_anonymous true
                log_type all
                connection up
                address 127.0.0.1:%d
                remote_clientid plant
                local_clientid local.plant
                bridge_protocol_version %s
                topic out/# out 2
                topic in/# in 2
                topic both/# both 2
                """.formatted(port, remotePort, version));
        CapturedProcess mosquitto = CapturedProcess.start(
                "mosquitto", new ProcessBuilder(ForeignProgram.path("mosquitto"), "-c", conf.toString()));
        InstalledMosquitto.awaitListening(port, mosquitto);
        return mosquitto;
    }

    private static void publish(RawClient client, String topic, boolean retained) {
        PublishBytes message = PublishBytes.to(topic).payload(topic);
        client.send(retained ? message.retained() : message);
    }

    /** Takes messages until all of the last ones are there, in any order; then nothing else comes. */
    private static List<String> received(RawClient client, String... last) {
        List<String> topics = new ArrayList<>();
        List<String> missing = new ArrayList<>(List.of(last));
        while (!missing.isEmpty() || topics.size() < 5 && last.length == 1) {
            String topic = client.expect(MqttMessageType.PUBLISH).topic();
            topics.add(topic);
            missing.remove(topic);
        }
        client.expectNothing();
        return topics;
    }

    private static void assertRetained(RawClient client, String topic) {
        client.subscribe(topic, 0);
        ReceivedPacket message = client.expectPublish(topic, topic);
        assertThat(message.retain()).isTrue();
        client.unsubscribe(topic);
    }

    private void assertShownAsBridge(BrokerProcess broker) {
        await().atMost(PATIENCE).untilAsserted(() -> {
            try (CapturedProcess ctl = BrokerProcess.run(
                    directory,
                    "ctl",
                    "clients",
                    "show",
                    "plant",
                    "--data",
                    "data",
                    "--set",
                    "management.port=" + broker.port("management"))) {
                assertThat(ctl.awaitExit(PATIENCE)).as(ctl.report()).isZero();
                assertThat(String.join("\n", ctl.output()))
                        .containsPattern("clientid +plant\n")
                        .containsPattern("is_bridge +true\n")
                        .containsPattern("in/# +2 +yes +yes ");
            }
        });
    }
}
