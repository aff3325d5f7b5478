// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What real clients left behind is still there after an export and import, and in a backup that was made under load. */
class DataIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int SENDER_ID = 77;

    @TempDir
    Path directory;

    private Path home(String name) throws IOException {
        return Files.createDirectory(directory.resolve(name));
    }

    private String data(String... arguments) {
        String[] command = new String[arguments.length + 1];
        command[0] = "data";
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        try (CapturedProcess process = BrokerProcess.run(directory, command)) {
            assertThat(process.awaitExit(PATIENCE))
                    .as("exit code%s", process.report())
                    .isZero();
            return process.report();
        }
    }

    private static RawClient persistent(InetSocketAddress address, ProtocolVersion version, String clientId) {
        RawClient client = RawClient.to(address, version).deadline(PATIENCE);
        client.connect(ConnectBytes.of(clientId).cleanStart(false).persistent(3_600));
        return client;
    }

    private static RawClient resumed(InetSocketAddress address, ProtocolVersion version, String clientId) {
        RawClient client = RawClient.to(address, version).deadline(PATIENCE);
        ReceivedPacket answer =
                client.connect(ConnectBytes.of(clientId).cleanStart(false).persistent(3_600));
        assertThat(answer.sessionPresent()).as(clientId).isTrue();
        return client;
    }

    @Test
    void whatClientsLeftSurvivesExportAndImport() throws IOException {
        Path first = home("first");
        Path second = home("second");
        int inFlight;
        try (BrokerProcess broker = StoredBroker.start(first)) {
            inFlight = leave(broker.address("tcp"));
            broker.terminate();
            assertThat(broker.awaitExit(PATIENCE))
                    .as("exit code%s", broker.report())
                    .isZero();
        }

        String exported = data("export", "--data", StoredBroker.data(first).toString(), "all.json");
        data("import", "--data", StoredBroker.data(second).toString(), "all.json");

        assertThat(exported).contains("lines exported");
        try (BrokerProcess broker = StoredBroker.start(second)) {
            find(broker.address("tcp"), inFlight);
        }
    }

    /** Leaves messages in all states, and returns the packet identifier of the one in flight. */
    private static int leave(InetSocketAddress address) {
        int inFlight;
        try (RawClient five = persistent(address, ProtocolVersion.MQTT_5, "five");
                RawClient old = persistent(address, ProtocolVersion.MQTT_3_1_1, "old");
                RawClient sender = persistent(address, ProtocolVersion.MQTT_5, "sender");
                RawClient publisher =
                        RawClient.to(address, ProtocolVersion.MQTT_5).deadline(PATIENCE)) {
            five.subscribe("a/#", 2);
            old.subscribe("a/+", 1);
            old.disconnect();
            publisher.connect("publisher");
            publisher.publish("a/0", "in flight", 2);
            inFlight = five.expectPublish("a/0", "in flight").packetId();
            five.disconnect();
            for (int i = 1; i <= 10; i++) {
                publisher.publish("a/" + i, "message " + i, 1 + i % 2);
            }
            PublishBytes retained =
                    PublishBytes.to("r/1").payload("stays").qos(1).retained();
            retained.properties().user("why", "because");
            publisher.publish(retained);
            sender.send(PublishBytes.to("a/11").payload("half sent").qos(2, SENDER_ID));
            sender.expect(MqttMessageType.PUBREC);
            sender.disconnect();
        }
        return inFlight;
    }

    private static void find(InetSocketAddress address, int inFlight) {
        try (RawClient sender = resumed(address, ProtocolVersion.MQTT_5, "sender");
                RawClient five = resumed(address, ProtocolVersion.MQTT_5, "five");
                RawClient old = resumed(address, ProtocolVersion.MQTT_3_1_1, "old");
                RawClient newcomer =
                        RawClient.to(address, ProtocolVersion.MQTT_5).deadline(PATIENCE)) {
            sender.send(PublishBytes.to("a/11")
                    .payload("half sent")
                    .qos(2, SENDER_ID)
                    .dup());
            sender.expect(MqttMessageType.PUBREC);
            sender.acknowledge(0x62, SENDER_ID).expect(MqttMessageType.PUBCOMP);

            ReceivedPacket again = five.expectPublish("a/0", "in flight");
            assertThat(again.dup()).isTrue();
            assertThat(again.packetId()).isEqualTo(inFlight);
            expectRest(five);
            old.expectPublish("a/0", "in flight");
            expectRest(old);

            newcomer.connect("newcomer");
            newcomer.subscribe("r/#", 1);
            ReceivedPacket retained = newcomer.expectPublish("r/1", "stays");
            assertThat(retained.retain()).isTrue();
            assertThat(retained.userProperties()).containsExactly("why=because");
        }
    }

    private static void expectRest(RawClient client) {
        for (int i = 1; i <= 10; i++) {
            client.expectPublish("a/" + i, "message " + i);
        }
        client.expectPublish("a/11", "half sent");
        client.ping(); // nothing comes twice
    }

    @Test
    void backupUnderLoadHasWhatWasAcknowledgedBefore() throws IOException {
        Path first = home("first");
        Path second = home("second");
        AtomicInteger acknowledged = new AtomicInteger();
        AtomicBoolean stop = new AtomicBoolean();
        int before;
        try (BrokerProcess broker = StoredBroker.start(first)) {
            InetSocketAddress address = broker.address("tcp");
            try (RawClient subscriber = persistent(address, ProtocolVersion.MQTT_5, "subscriber")) {
                subscriber.subscribe("n", 1);
                subscriber.disconnect();
            }
            CompletableFuture<Void> publishing =
                    CompletableFuture.runAsync(() -> publish(address, acknowledged, stop), THREADS);
            Awaitility.await().atMost(PATIENCE).until(() -> acknowledged.get() > 1_000 || publishing.isDone());
            before = acknowledged.get();
            assertThat(before).isGreaterThan(1_000);

            data(
                    "backup",
                    "--data",
                    StoredBroker.data(first).toString(),
                    StoredBroker.data(second).toString());

            assertThat(acknowledged.get()).as("it goes on meanwhile").isGreaterThan(before);
            stop.set(true);
            publishing.join();
            broker.kill9();
        }
        assertThat(data("check", "--data", StoredBroker.data(second).toString()))
                .contains("all is well: 1 sessions");
        try (BrokerProcess broker = StoredBroker.start(second);
                RawClient subscriber = resumed(broker.address("tcp"), ProtocolVersion.MQTT_5, "subscriber")) {
            for (int i = 0; i < before; i++) {
                ReceivedPacket message = subscriber.expectPublish("n", String.valueOf(i));
                subscriber.acknowledge(0x40, message.packetId());
            }
        }
    }

    private static void publish(InetSocketAddress address, AtomicInteger acknowledged, AtomicBoolean stop) {
        try (RawClient publisher = RawClient.to(address, ProtocolVersion.MQTT_5).deadline(PATIENCE)) {
            publisher.connect("publisher");
            while (!stop.get()) {
                publisher.publish("n", String.valueOf(acknowledged.get()), 1);
                acknowledged.incrementAndGet();
            }
        }
    }

    @Test
    void runningBrokerKeepsItsDataToItself() throws IOException {
        Path home = home("first");
        String data = StoredBroker.data(home).toString();
        try (BrokerProcess broker = StoredBroker.start(home)) {
            for (List<String> command : List.of(
                    List.of("data", "export", "--data", data, "-"),
                    List.of("data", "check", "--data", data),
                    List.of(
                            "start",
                            "--data",
                            data,
                            "--set",
                            "listeners.tcp.port=0",
                            "--set",
                            "listeners.ws.port=0"))) {
                try (CapturedProcess process = BrokerProcess.run(directory, command.toArray(String[]::new))) {
                    assertThat(process.awaitExit(PATIENCE)).as("%s", command).isEqualTo(5);
                    assertThat(process.report())
                            .contains("in use by process " + broker.handle().pid());
                }
            }
        }
    }
}
