// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static io.smqtt.replication.LogContent.entries;
import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.persistence.StoreUnusableException;
import io.smqtt.spi.StoreDamagedException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jgroups.util.ExtendedUUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Damage of the files of a log, by seed: a file is cut, one bit of it is flipped, or it is missing. The log is refused, or it is the one that
 * was written, because the damaged part is not used.
 */
class RaftLogDamageTest {

    private static final int DAMAGES = Integer.getInteger("log.damages", 45);
    private static final long FIRST_SEED = Long.getLong("log.seed", 0);

    @TempDir
    private Path folder;

    @Test
    void noDamagedLogIsApplied() throws IOException {
        Path original = folder.resolve("log");
        LogContent written = write(original);
        Map<String, Integer> refused = new TreeMap<>();
        Map<String, Integer> unused = new TreeMap<>();
        for (long seed = FIRST_SEED; seed < FIRST_SEED + DAMAGES; seed++) {
            Path copy = folder.resolve("copy" + seed);
            LogContent.copy(original, copy);
            String damage = damage(copy, new Random(seed));
            String kind = damage.substring(0, damage.indexOf(' '));
            try {
                assertThat(LogContent.read(copy))
                        .as("seed %d: %s", seed, damage)
                        .isEqualTo(written);
                unused.merge(kind, 1, Integer::sum);
            } catch (StoreDamagedException | StoreUnusableException e) {
                assertThat(e).as("seed %d: %s", seed, damage).hasMessageContaining(copy.toString());
                refused.merge(kind, 1, Integer::sum);
            }
        }
        System.out.println("damaged logs: refused " + refused + ", damage without effect " + unused);

        assertThat(refused).containsOnlyKeys("cut", "flipped", "missing");
        assertThat(refused.values().stream().mapToInt(Integer::intValue).sum()).isGreaterThan(DAMAGES / 2);
    }

    /** Some entries are in a table, others in a write-ahead log; the last change was synced. */
    private static LogContent write(Path directory) throws IOException {
        Random random = new Random(1);
        try (RocksRaftLog log = LogContent.open(directory)) {
            for (int i = 1; i <= 200; i++) {
                log.append(i, entries(1, text(random)));
            }
            log.commitIndex(150);
            log.truncate(30);
        }
        try (RocksRaftLog log = LogContent.open(directory)) {
            log.deleteAllEntriesStartingFrom(181);
            for (int i = 181; i <= 250; i++) {
                log.append(i, entries(2, text(random)));
            }
            log.commitIndex(240);
            log.votedFor(ExtendedUUID.randomUUID("a"));
            return LogContent.of(log);
        }
    }

    private static String text(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(300); i >= 0; i--) {
            text.append((char) ('a' + random.nextInt(26)));
        }
        return text.toString();
    }

    private static String damage(Path directory, Random random) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(directory)) {
            files = all.filter(Files::isRegularFile)
                    .filter(file -> file.getFileName().toString().matches("synced|CURRENT|MANIFEST.*|.*\\.(sst|log)"))
                    .sorted()
                    .toList();
        }
        Path file = files.get(random.nextInt(files.size()));
        int size = (int) Files.size(file);
        switch (random.nextInt(5)) {
            case 0 -> {
                Files.delete(file);
                return "missing " + file;
            }
            case 1, 2 -> {
                int end = Math.max(0, size - 1 - random.nextInt(3_000));
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    channel.truncate(end);
                }
                return "cut " + file + " at " + end + " of " + size;
            }
            default -> {
                byte[] bytes = Files.readAllBytes(file);
                int bit = random.nextInt(Math.max(1, size * Byte.SIZE));
                if (size > 0) {
                    bytes[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
                }
                Files.write(file, bytes);
                return "flipped " + file + " bit " + bit + " of " + size + " bytes";
            }
        }
    }
}
