// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Bridges to another broker in Java. Subclasses have a method {@code versions}, with those of MQTT that it speaks. */
abstract class BridgePeerProof {

    static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int MESSAGES = 300;

    @TempDir
    Path directory;

    abstract JavaPeer peer(Path home, int port) throws IOException;

    CapturedProcess peer(int port) throws IOException {
        return peer(Files.createDirectories(directory.resolve("peer")), port).start();
    }

    @ParameterizedTest
    @MethodSource("versions")
    void messagesGoBothWaysOnceAndWaitWhileItIsAway(String version) throws Exception {
        ProtocolVersion protocol = version.equals("5") ? ProtocolVersion.MQTT_5 : ProtocolVersion.MQTT_3_1_1;
        int port = LoopbackPorts.one();
        try (BrokerProcess broker = broker(port, version);
                RawClient publisherHere = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            publisherHere.connect("publisher-here");
            try (CapturedProcess peer = peer(port);
                    RawClient here = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                    RawClient there = RawClient.to(BridgeIT.address(port), protocol);
                    RawClient publisherThere = RawClient.to(BridgeIT.address(port), protocol)) {
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
                peer.kill();
            }
            List<String> queued = publish(publisherHere, "out/queued", "q", 1);
            try (CapturedProcess peer = peer(port);
                    RawClient there = RawClient.to(BridgeIT.address(port), protocol)) {
                there.connect("later");
                there.subscribe("plant/#", 0);
                BridgeIT.assertPayloads(there, queued);
                System.out.printf(
                        "%s, MQTT %s, process %d: %d messages of QoS 0 to 2 in each direction, and %d that waited%n",
                        getClass().getSimpleName(), version, peer.process().pid(), MESSAGES, queued.size());
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

    /** The delay is long enough for a subscriber to be back before the bridge. */
    BrokerProcess broker(int port, String version) throws Exception {
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
                    min-delay: 3s
                    max-delay: 3s
                    topics: ["out/# out 2 \\"\\" plant/", "in/# in 2"]
                """.formatted(port, version));
        return BrokerProcess.start(directory, List.of(), file);
    }
}
