// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk of 160 MiB becomes full. Needs the right to mount one, which is why a command of its own runs it. */
class FullDiskProof {

    private static final long DISK_BYTES = 160L << 20;
    private static final int BALLAST_BYTES = 96 << 20;
    private static final String TOPIC = "full";
    private static final String PADDING = incompressible(64 << 10);
    private static final Duration BACK_WITHIN = Duration.ofSeconds(5);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    @Test
    void aFullDiskLosesNothingAndIsUsedAgainWithoutARestart() throws IOException {
        onADisk(
                "disk",
                (disk, ballast) -> new FullDisk()
                        .run(disk, broker -> delete(ballast), BACK_WITHIN, "storage.write-buffer-bytes=4MiB"));
    }

    /** MQTT 5.0 publishers are refused, those of MQTT 3.1.1 wait; none is disconnected, and the node that returns gets all. */
    @Test
    void aFullDiskOfTheNodeThatParksLosesNothing() throws IOException {
        onADisk("n0", (disk, ballast) -> {
            try (LoopbackCluster cluster =
                    LoopbackCluster.start(directory, 2, "rocksdb", "storage.write-buffer-bytes=4MiB")) {
                parkOnAFullDisk(cluster, ballast);
            }
        });
    }

    private static void parkOnAFullDisk(LoopbackCluster cluster, Path ballast) {
        try (RawClient subscriber = cluster.stored(1, "absent")) {
            subscriber.subscribe(TOPIC, 1);
            subscriber.disconnect();
        }
        await().atMost(PATIENCE).until(() -> cluster.view(0).peer("n1").routes() > 0);
        cluster.broker(1).kill9();
        ClusterPromisesIT.awaitGone(cluster, 0, "n1");
        int accepted = 0;
        try (RawClient five = cluster.client(0, "five");
                RawClient older = RawClient.to(cluster.broker(0).address("tcp"), ProtocolVersion.MQTT_3_1_1)
                        .deadline(PATIENCE)) {
            older.connect("older");
            int answer = 0;
            while (answer < 0x80) {
                assertThat(accepted * (long) PADDING.length())
                        .as("the disk becomes full")
                        .isLessThan(DISK_BYTES);
                answer = publish(five, accepted);
                accepted += answer < 0x80 ? 1 : 0;
            }
            assertThat(answer).isEqualTo(0x97);

            older.send(PublishBytes.to(TOPIC).payload(accepted + PADDING).qos(1, older.nextPacketId()));
            older.ping();
            five.ping();
            delete(ballast);

            older.expect(MqttMessageType.PUBACK);
            accepted++;
            int last = accepted;
            await().atMost(PATIENCE).until(() -> publish(five, last) < 0x80);
            accepted++;
        }
        cluster.restart(1);
        try (RawClient subscriber = cluster.stored(1, "absent")) {
            assertThat(Numbers.take(subscriber, accepted))
                    .containsExactlyElementsOf(
                            IntStream.range(0, accepted).boxed().toList());
        }
    }

    private static int publish(RawClient client, int number) {
        client.send(PublishBytes.to(TOPIC).payload(number + PADDING).qos(1, client.nextPacketId()));
        return client.expect(MqttMessageType.PUBACK).reasonCode();
    }

    /** Runs a test with a disk of its own, and a file that takes most of it. */
    private void onADisk(String name, BiConsumer<Path, Path> test) throws IOException {
        Path disk = Files.createDirectories(directory.resolve(name));
        assertThat(run("mount", "-t", "tmpfs", "-o", "size=" + DISK_BYTES, "tmpfs", disk.toString()))
                .as("mounting a disk needs root")
                .isZero();
        try {
            test.accept(disk, Files.write(disk.resolve("ballast"), new byte[BALLAST_BYTES]));
        } finally {
            run("umount", "-l", disk.toString());
        }
    }

    private static String incompressible(int length) {
        byte[] random = new byte[length * 3 / 4];
        new Random(1).nextBytes(random);
        return " " + Base64.getEncoder().encodeToString(random);
    }

    private static void delete(Path file) {
        try {
            Files.delete(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int run(String... command) {
        try (CapturedProcess process = CapturedProcess.start(command[0], new ProcessBuilder(command))) {
            return process.awaitExit(PATIENCE);
        }
    }
}
