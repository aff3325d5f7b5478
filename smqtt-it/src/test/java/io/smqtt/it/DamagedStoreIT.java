// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Copies of the data directory of a broker that was killed, each with a file cut or a bit changed: the program says which
 * file is damaged and ends with exit code 5, or it has all messages, but for those behind the cut end of the last log.
 * {@code -Dsmqtt.damage.copies=200} makes it long, {@code -Dsmqtt.seed} chooses the places.
 */
@Tag("long")
class DamagedStoreIT {

    private static final int COPIES = Integer.getInteger("smqtt.damage.copies", 3);
    private static final int MESSAGES = 600; // several table files, and a log
    private static final int RESTART_AFTER = 400;
    private static final int BAD_DATA = 5;
    private static final String REFUSAL = "Nothing was changed.";
    private static final String TOPIC = "t";
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final long seed = Long.getLong("smqtt.seed", System.nanoTime());
    private final OfflineSession session = new OfflineSession("away", TOPIC);
    private int refused;
    private int whole;
    private int cutEnd;

    @TempDir
    Path directory;

    @Test
    void damageIsNamedOrDidNoHarm() throws IOException {
        Path original = Files.createDirectories(directory.resolve("original"));
        fill(original);
        refuse(copyWith(original, "half a log", 1, "log"), "log");
        refuse(copyWith(original, "half a table", 1, "sst"), "sst");
        refuse(copyWith(original, "half a list", 1, "MANIFEST"), "MANIFEST");
        Random random = new Random(seed);
        for (int i = 0; i < COPIES; i++) {
            Path copy = directory.resolve("copy-" + i);
            copy(original, copy);
            Damaged damaged = damage(copy, random);
            tryOut(copy, damaged);
            delete(copy);
        }
        System.out.println(
                refused + " refused, " + whole + " whole, " + cutEnd + " without the cut end of the log; seed " + seed);
        assertThat(refused + whole + cutEnd).isEqualTo(COPIES);
    }

    private void fill(Path original) {
        int number = 0;
        for (int end : List.of(RESTART_AFTER, MESSAGES)) { // what the first run logs the second puts into tables
            try (BrokerProcess broker = StoredBroker.start(original)) {
                InetSocketAddress address = broker.address("tcp");
                if (number == 0) {
                    session.open(address);
                }
                try (RawClient publisher =
                        RawClient.to(address, ProtocolVersion.MQTT_5).deadline(PATIENCE)) {
                    publisher.connect("publisher");
                    for (; number < end; number++) {
                        publisher
                                .send(PublishBytes.to(TOPIC)
                                        .payload(number + " " + "x".repeat(1_000))
                                        .qos(1, number + 1))
                                .expect(MqttMessageType.PUBACK);
                    }
                }
                broker.kill9();
            }
        }
    }

    /** A bit in the middle of a file of a kind is changed. */
    private Path copyWith(Path original, String name, int bit, String kind) throws IOException {
        Path copy = directory.resolve(name.replace(' ', '-'));
        copy(original, copy);
        Path file = files(copy).stream()
                .filter(path -> path.getFileName().toString().contains(kind))
                .max(Comparator.comparingLong(path -> path.toFile().length()))
                .orElseThrow();
        flip(file, Files.size(file) / 2, bit);
        return copy;
    }

    private void refuse(Path copy, String kind) throws IOException {
        try (CapturedProcess process = CapturedProcess.start("broker", StoredBroker.command(copy, List.of()))) {
            assertThat(process.awaitExit(PATIENCE)).as(process.report()).isEqualTo(BAD_DATA);
            assertThat(process.report())
                    .contains("the store is damaged: " + copy)
                    .containsPattern("/[^ /]*" + kind);
        }
        delete(copy);
    }

    private void tryOut(Path copy, Damaged damaged) {
        String about = damaged + ", seed " + seed;
        try (CapturedProcess process = CapturedProcess.start("broker", StoredBroker.command(copy, List.of()))) {
            String line = process.awaitLine(
                    "starting or refusing",
                    text -> text.contains("smqtt started in") || text.contains(REFUSAL),
                    PATIENCE);
            if (line.contains(REFUSAL)) { // damage, or a format that is not known
                assertThat(process.awaitExit(PATIENCE)).as(about).isEqualTo(BAD_DATA);
                assertThat(line).as(about).contains(damaged.name());
                refused++;
                return;
            }
            process.kill();
            process.awaitExit(PATIENCE);
        }
        try (BrokerProcess broker = StoredBroker.start(copy)) {
            List<Integer> received = session.drain(broker.address("tcp")).stream()
                    .map(text -> Integer.valueOf(text.substring(0, text.indexOf(' '))))
                    .toList();
            assertThat(received)
                    .as(about)
                    .isEqualTo(IntStream.range(0, received.size()).boxed().toList());
            if (received.size() == MESSAGES) {
                whole++;
            } else {
                assertThat(damaged.cut && damaged.file.toString().endsWith(".log"))
                        .as(about + ": only " + received.size() + " messages are left, without a word")
                        .isTrue();
                cutEnd++;
            }
        }
    }

    private static Damaged damage(Path copy, Random random) throws IOException {
        List<Path> files = files(copy);
        Path file = files.get(random.nextInt(files.size()));
        long place = (long) (random.nextDouble() * Files.size(file));
        boolean cut = random.nextBoolean();
        if (cut) {
            try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
                bytes.setLength(place);
            }
        } else {
            flip(file, place, 1 << random.nextInt(8));
        }
        return new Damaged(file, place, cut);
    }

    private static void flip(Path file, long place, int bit) throws IOException {
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            bytes.seek(place);
            int before = bytes.read();
            bytes.seek(place);
            bytes.write(before ^ bit);
        }
    }

    /** The files that hold data; not the database's own log of what it does, nor its library. */
    private static List<Path> files(Path copy) throws IOException {
        try (Stream<Path> all = Files.walk(StoredBroker.data(copy).resolve("store"))) {
            return all.filter(Files::isRegularFile)
                    .filter(file -> file.toFile().length() > 0)
                    .filter(file -> !file.toString().contains("/native/"))
                    .filter(file -> !file.getFileName().toString().matches("LOG.*|LOCK|lock|IDENTITY"))
                    .sorted()
                    .toList();
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path path : (Iterable<Path>) all::iterator) {
                Files.copy(path, to.resolve(from.relativize(path)));
            }
        }
    }

    private static void delete(Path copy) throws IOException {
        try (Stream<Path> all = Files.walk(copy)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    private record Damaged(Path file, long place, boolean cut) {

        /** What a message has to say; the database begins a new list of tables before it misses something in the old one. */
        String name() {
            String name = file.getFileName().toString();
            return name.startsWith("MANIFEST-") ? "MANIFEST-" : name;
        }
    }
}
