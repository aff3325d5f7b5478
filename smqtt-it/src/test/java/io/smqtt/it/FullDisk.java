// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/**
 * A broker whose disk becomes full and has room again: nothing is acknowledged that is not stored, those who need no disk
 * go on, and the rest goes on when there is room, without a restart. Two sessions are away: one that has to get all that
 * was acknowledged, and one whose messages take the room.
 */
final class FullDisk {

    static final String HOG = "hog";

    private static final int PAYLOAD_BYTES = 20_000;
    private static final String BALLAST = new Random(1)
            .ints(PAYLOAD_BYTES, 'A', 'z') // what can be compressed takes no room
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
            .toString();
    private static final int KEPT_ONE_IN = 10;
    private static final int MESSAGES_AT_MOST = 5_000;
    private static final int REFUSALS = 50;
    private static final int ROUND_TRIPS = 300;
    private static final int AFTERWARDS = 20;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final OfflineSession kept = new OfflineSession("kept", "kept");
    private final OfflineSession hog = new OfflineSession(HOG, HOG);
    private final List<String> acknowledged = new ArrayList<>();
    private int next = 1;
    private int refused;

    /**
     * Fills the disk, frees it, kills the broker and looks what is there.
     *
     * @param directory on the disk
     * @param free makes room
     * @param backWithin how long it may take then until a message is acknowledged
     */
    void run(Path directory, Consumer<InetSocketAddress> free, Duration backWithin, String... settings) {
        try (BrokerProcess broker = StoredBroker.start(directory, settings)) {
            InetSocketAddress address = broker.address("tcp");
            kept.open(address);
            hog.open(address);
            try (RawClient publisher =
                            RawClient.to(address, ProtocolVersion.MQTT_5).deadline(PATIENCE);
                    Bystander bystander = Bystander.start(address)) {
                publisher.connect("publisher");
                while (publish(publisher)) {
                    assertThat(acknowledged.size()).as("the disk is not full").isLessThan(MESSAGES_AT_MOST);
                }
                for (int inARow = 0; inARow < REFUSALS || bystander.rounds() < ROUND_TRIPS; inARow++) {
                    if (publish(publisher)) { // room for a few was found
                        inARow = 0;
                        bystander.forget();
                    }
                }
                requireOthersRefused(address, publisher);
                System.out.println("while the disk is full: " + bystander.figures());

                long freedNanos = System.nanoTime();
                free.accept(address);
                while (!publish(publisher)) {
                    assertThat(Duration.ofNanos(System.nanoTime() - freedNanos)).isLessThan(backWithin);
                }
                Duration back = Duration.ofNanos(System.nanoTime() - freedNanos);
                for (int i = 0; i < AFTERWARDS; i++) {
                    assertThat(publish(publisher)).isTrue();
                }
                System.out.println(acknowledged.size() + " acknowledged, " + refused + " refused, back after "
                        + back.toMillis() + " ms");
            }
            broker.kill9();
        }
        try (BrokerProcess broker = StoredBroker.start(directory, settings)) {
            List<String> received = kept.drain(broker.address("tcp")).stream()
                    .map(text -> text.substring(0, text.indexOf(' ')))
                    .toList();
            assertThat(received).isEqualTo(acknowledged);
        }
    }

    /** Publishes a message to the one that keeps and some to the one that takes room; whether all were acknowledged. */
    private boolean publish(RawClient publisher) {
        for (int i = 1; i < KEPT_ONE_IN; i++) {
            if (answer(publisher, HOG, "hog") != 0) {
                refused++;
                return false;
            }
        }
        String name = "message-" + next++;
        int reason = answer(publisher, kept.topic(), name);
        if (reason == 0) {
            acknowledged.add(name);
            return true;
        }
        refused++;
        return false;
    }

    private static int answer(RawClient publisher, String topic, String name) {
        PublishBytes message =
                PublishBytes.to(topic).payload(name + ' ' + BALLAST).qos(1, publisher.nextPacketId() & 0x7FFF | 1);
        int reason = publisher.send(message).expect(MqttMessageType.PUBACK).reasonCode();
        assertThat(reason).isIn(0, ReasonCode.NO_MATCHING_SUBSCRIBERS.value(), ReasonCode.QUOTA_EXCEEDED.value());
        return reason == ReasonCode.QUOTA_EXCEEDED.value() ? reason : 0;
    }

    /** MQTT 3.1.1 has no way to say no but to end the connection; a subscription that would be stored is refused too. */
    private void requireOthersRefused(InetSocketAddress address, RawClient publisher) {
        while (isTakenFromOld(address) || isBegun(address)) {
            publish(publisher); // there was room for a little
        }
    }

    private boolean isTakenFromOld(InetSocketAddress address) {
        try (RawClient old = RawClient.to(address, ProtocolVersion.MQTT_3_1_1).deadline(PATIENCE)) {
            old.connect("old");
            String name = "message-" + next++;
            ReceivedPacket answer = old.send(
                            PublishBytes.to(kept.topic()).payload(name + ' ').qos(1, 1))
                    .receive();
            if (answer == null) {
                return false;
            }
            assertThat(answer.type()).isEqualTo(MqttMessageType.PUBACK);
            acknowledged.add(name);
            return true;
        }
    }

    /** Past a limit of bytes the header of a session is taken, its subscriptions are not. */
    private static boolean isBegun(InetSocketAddress address) {
        try (RawClient client = RawClient.to(address, ProtocolVersion.MQTT_5).deadline(PATIENCE)) {
            int reason = client.send(ConnectBytes.of("late").persistent(60))
                    .expect(MqttMessageType.CONNACK)
                    .reasonCode();
            return reason == 0 && client.subscribe("late", 1).reasonCodes().get(0) < 0x80;
        }
    }
}
