// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PublishBytes;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A session with many messages moves to another node, and one of the two is killed in the middle. */
class TakeoverKillIT {

    private static final int MESSAGES = 20_000;
    private static final int PAYLOAD_BYTES = 1_000;
    private static final int WINDOW = 200;
    private static final Duration POLL = Duration.ofMillis(5);
    private static final Duration PATIENCE = LoopbackCluster.PATIENCE;
    private static final String NONE = "none";
    private static final String CLIENT = "moving";

    @TempDir
    Path directory;

    @Test
    void theSessionStaysWithAllMessagesWhenTheNewNodeDies() throws Exception {
        try (LoopbackCluster cluster = LoopbackCluster.start(directory, 2);
                RawClient publisher = cluster.client(0, "publisher")) {
            fill(cluster, publisher);
            try (RawClient newcomer = cluster.open(1)) {
                CompletableFuture<String> answer = claim(cluster, newcomer);
                publisher.send(message(MESSAGES, publisher.nextPacketId())); // while the session is on its way
                cluster.broker(1).kill9();
                assertThat(answer)
                        .as("killed in the middle")
                        .succeedsWithin(PATIENCE)
                        .isEqualTo(NONE);
            }
            assertThat(publisher.expect(MqttMessageType.PUBACK).reasonCode()).isZero();
            try (RawClient back = cluster.open(0)) {
                assertThat(back.connect(LoopbackCluster.storedConnect(CLIENT)).sessionPresent())
                        .isTrue();
                assertThat(take(back, MESSAGES + 1))
                        .isEqualTo(IntStream.rangeClosed(0, MESSAGES).boxed().toList());
                back.disconnect();
            }
            cluster.restart(1);
            assertThat(cluster.sessions(1))
                    .as("nothing is left of what it had got")
                    .isZero();
            try (RawClient moved = cluster.open(1)) {
                assertThat(moved.connect(LoopbackCluster.storedConnect(CLIENT)).sessionPresent())
                        .isTrue();
                publisher.send(message(MESSAGES + 1, publisher.nextPacketId()));
                assertThat(take(moved, 1)).containsExactly(MESSAGES + 1);
            }
        }
    }

    @Test
    void theClientGetsANewSessionWhenTheOldNodeDiesAndTheMessagesWhenItIsBack() throws Exception {
        try (LoopbackCluster cluster = LoopbackCluster.start(directory, 2)) {
            try (RawClient publisher = cluster.client(0, "publisher")) {
                fill(cluster, publisher);
            }
            try (RawClient newcomer = cluster.open(1)) {
                CompletableFuture<String> answer = claim(cluster, newcomer);
                cluster.broker(0).kill9();
                assertThat(answer)
                        .as("killed in the middle")
                        .succeedsWithin(PATIENCE)
                        .isEqualTo("CONNACK 0, new session");
                newcomer.subscribe("new", 1);
                newcomer.send(PublishBytes.to("new").payload("-1"));
                assertThat(take(newcomer, 1)).containsExactly(-1);

                cluster.restart(0);

                assertThat(take(newcomer, MESSAGES))
                        .isEqualTo(IntStream.range(0, MESSAGES).boxed().toList());
                await().atMost(PATIENCE).until(() -> cluster.sessions(0) == 0 && cluster.sessions(1) == 1);
                newcomer.send(PublishBytes.to("new").payload("-2"));
                assertThat(take(newcomer, 1)).containsExactly(-2);
            }
        }
    }

    /** A session on the first node, and its messages, all of them acknowledged. */
    private static void fill(LoopbackCluster cluster, RawClient publisher) {
        try (RawClient client = cluster.stored(0, CLIENT)) {
            client.subscribe("move", 1);
            client.disconnect();
        }
        for (int i = 0; i < MESSAGES + WINDOW; i++) {
            if (i >= WINDOW) {
                assertThat(publisher.expect(MqttMessageType.PUBACK).reasonCode())
                        .isZero();
            }
            if (i < MESSAGES) {
                publisher.send(message(i, publisher.nextPacketId()));
            }
        }
    }

    private static PublishBytes message(int number, int packetId) {
        String text = String.format("%" + PAYLOAD_BYTES + "d", number);
        return PublishBytes.to("move").payload(text).qos(1, packetId);
    }

    /**
     * Claims the session on the second node, and returns when some of it is there and much of it is not.
     *
     * @return what the client will be answered
     */
    private static CompletableFuture<String> claim(LoopbackCluster cluster, RawClient newcomer) {
        long before = cluster.view(1).receivedBytes();
        newcomer.send(LoopbackCluster.storedConnect(CLIENT));
        CompletableFuture<String> answer = CompletableFuture.supplyAsync(() -> answer(newcomer), THREADS);
        await().atMost(PATIENCE)
                .pollInterval(POLL)
                .until(() -> cluster.view(1).receivedBytes() - before > MESSAGES * PAYLOAD_BYTES / 10L);
        return answer;
    }

    private static String answer(RawClient client) {
        try {
            ReceivedPacket packet = client.receive();
            return packet == null
                    ? NONE
                    : packet.type() + " " + packet.reasonCode()
                            + (packet.sessionPresent() ? ", the session" : ", new session");
        } catch (UncheckedIOException e) {
            return NONE;
        }
    }

    /** Receives and acknowledges so many messages. */
    private static List<Integer> take(RawClient client, int count) {
        List<Integer> numbers = new ArrayList<>();
        while (numbers.size() < count) {
            ReceivedPacket packet = client.expect(MqttMessageType.PUBLISH);
            numbers.add(Integer.valueOf(packet.text().strip()));
            if (packet.qos() == 1) {
                client.acknowledge(0x40, packet.packetId());
            }
        }
        return numbers;
    }
}
