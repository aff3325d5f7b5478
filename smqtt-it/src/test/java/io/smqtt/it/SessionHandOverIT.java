// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A node that stops gives its sessions to the others, wherever sessions are kept. */
class SessionHandOverIT {

    private static final int CLIENTS = 60;
    private static final long LONG_DELAY = 3_600;

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"memory", "rocksdb"})
    void clientsFindTheirSessionsElsewhereWhenTheirNodeHasStopped(String storage) {
        try (LoopbackCluster cluster = LoopbackCluster.start(directory, 3, storage);
                RawClient early = cluster.client(0, "early"); // where the routes of its subscribers are known at once
                RawClient publisher = cluster.client(1, "publisher");
                RawClient witness = cluster.client(2, "witness")) {
            witness.subscribe("will/#", 1);
            List<RawClient> connected = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                RawClient client = cluster.stored(0, "client-" + i);
                client.subscribe("topic/" + i, 2);
                if (i % 2 == 0) {
                    connected.add(client);
                } else {
                    client.close();
                    early.publish("topic/" + i, "early", 1 + i / 2 % 2);
                }
            }
            withWill(cluster, "soon", 2);
            withWill(cluster, "late", LONG_DELAY);

            cluster.broker(0).signal("TERM"); // its last lines can be read
            assertThat(cluster.broker(0).awaitExit(LoopbackCluster.PATIENCE)).isZero();
            assertThat(cluster.broker(0).awaitLine("handed ")).contains((CLIENTS + 2) + " sessions");
            connected.forEach(RawClient::close);

            for (int i = 0; i < CLIENTS; i++) {
                publisher.publish("topic/" + i, "late", 1 + i / 2 % 2);
            }
            for (int i = 0; i < CLIENTS; i++) {
                try (RawClient client = cluster.open(1 + i % 3 % 2)) {
                    ReceivedPacket connAck = client.connect(LoopbackCluster.storedConnect("client-" + i));
                    assertThat(connAck.sessionPresent()).as("client-" + i).isTrue();
                    if (i % 2 != 0) {
                        takes(client, "topic/" + i, "early");
                    }
                    takes(client, "topic/" + i, "late");
                }
            }
            takes(witness, "will/soon", "gone");
            try (RawClient client = cluster.open(1)) { // in time: its will is not published
                assertThat(client.connect(LoopbackCluster.storedConnect("with-will-late"))
                                .sessionPresent())
                        .isTrue();
                client.disconnect();
            }
            publisher.publish("will/none", "last", 1);
            takes(witness, "will/none", "last");
        }
    }

    /** A client whose connection ends without a DISCONNECT. */
    private static void withWill(LoopbackCluster cluster, String name, long delaySeconds) {
        PublishBytes will = PublishBytes.to("will/" + name).payload("gone").qos(1, 0);
        will.properties().willDelay(delaySeconds);
        RawClient client = cluster.open(0);
        ConnectBytes connect =
                LoopbackCluster.storedConnect("with-will-" + name).will(will);
        client.connect(connect);
        client.abort();
    }

    private static void takes(RawClient client, String topic, String payload) {
        ReceivedPacket packet = client.expectPublish(topic, payload);
        if (packet.qos() == 1) {
            client.pubAck(packet);
        } else if (packet.qos() == 2) {
            client.acknowledge(0x50, packet.packetId());
        }
    }
}
