// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.spi.StoreDamagedException;
import io.smqtt.spi.StoredMessage;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDBException;

/** What cannot be read or written of one session fails there, and nowhere else. */
class DamagedRowTest {

    private static final byte[] NONSENSE = {99, 99};

    @TempDir
    Path directory;

    private DirectStore open() throws Exception {
        return new DirectStore(directory.resolve("db"), StoreSettings.defaults());
    }

    private static void damage(DirectStore direct, Family family, byte[] key) throws RocksDBException {
        direct.database.write(Change.all(List.of(new Change(family, key, NONSENSE))), false);
    }

    @Test
    void aFlushThatCannotBeWrittenFailsAlone() throws Exception {
        try (DirectStore direct = open()) {
            ApplicationMessage message = DirectStore.message(10);
            Operations bad = direct.flush(DirectStore.Flush::impossible);
            Operations good = direct.flush(flush -> flush.message(1, 1, message));

            assertThat(direct.commit(List.of(bad, good))).isNull();
            assertThat(direct.commit(List.of(good, bad))).isInstanceOf(RuntimeException.class);

            assertThat(direct.sequences(1)).containsExactly(1L);
        }
    }

    @Test
    void aSessionWhoseCountCannotBeReadDoesNotStopTheOthers() throws Exception {
        try (DirectStore direct = open()) {
            ApplicationMessage message = DirectStore.message(10);
            direct.commit(flush -> flush.message(1, 1, message));
            damage(direct, Family.TAIL, Keys.number(9));

            assertThat(direct.commit(flush -> flush.remove(1, 1))).isNull();
            assertThat(direct.commit(flush -> flush.remove(9, 1))).isInstanceOf(MalformedBytesException.class);
            assertThat(direct.commit(flush -> {
                        flush.message(1, 2, message);
                        flush.remove(1, 1);
                    }))
                    .isNull();
            assertThat(direct.store.isHealthy()).isTrue();
        }
    }

    @Test
    void aMessageThatCannotBeReadCanBeRemoved() throws Exception {
        try (DirectStore direct = open()) {
            ApplicationMessage message = DirectStore.message(10);
            direct.commit(flush -> {
                flush.message(1, 1, message);
                flush.message(1, 2, message);
            });
            damage(direct, Family.QUEUE, Keys.message(1, 1));
            direct.heads.clear();
            assertThat(direct.page(1).failure()).isInstanceOf(StoreDamagedException.class);

            assertThat(direct.commit(flush -> flush.remove(1, 1))).isNull();

            assertThat(direct.sequences(1)).containsExactly(2L);
        }
    }

    @Test
    void whoReadsIsToldWhichMessageCannotBeReadAndReadsTheOthers() throws Exception {
        try (DirectStore direct = open()) {
            direct.commit(flush -> {
                for (int i = 1; i <= 5; i++) {
                    flush.message(7, i, DirectStore.message(10));
                }
            });
            damage(direct, Family.QUEUE, Keys.message(7, 3));
            direct.heads.clear();

            assertThat(direct.page(7).failure())
                    .isInstanceOfSatisfying(
                            StoreDamagedException.class,
                            damage -> assertThat(damage.sequence()).isEqualTo(3))
                    .hasMessageContaining("message 3 of session 7");
            assertThat(direct.page(7, 1, 2).messages())
                    .extracting(StoredMessage::sequence)
                    .containsExactly(1L, 2L);
            assertThat(direct.page(7, 4, 1_000).messages())
                    .extracting(StoredMessage::sequence)
                    .containsExactly(4L, 5L);
        }
    }

    @Test
    void aRemovedSessionThatCannotBeReadDoesNotStopTheOthers() throws Exception {
        try (DirectStore direct = open()) {
            direct.commit(flush -> flush.message(2, 1, DirectStore.message(10)));
            damage(direct, Family.QUEUE, Keys.message(1, 1));
            direct.commit(flush -> {
                flush.removeSession(1);
                flush.removeSession(2);
            });

            direct.sweepAll();

            assertThat(direct.rows(Family.QUEUE)).isOne();
            assertThat(direct.store.isHealthy()).isTrue();
        }
    }

    @Test
    void whoReadsIsToldOfABodyThatCannotBeRead() throws Exception {
        byte[] payload = new byte[100_000];
        new Random(1).nextBytes(payload);
        ApplicationMessage shared =
                ApplicationMessage.builder("t").payload(Payload.of(payload)).build();
        try (DirectStore direct = open()) {
            direct.commit(flush -> {
                flush.message(1, 1, shared);
                flush.message(2, 1, shared);
            });
            direct.commit(flush -> flush.message(3, 1, DirectStore.message(10)));
            direct.database.compact();
            flipAByteOfTheLargestTable();

            assertThat(direct.page(1).failure())
                    .isInstanceOf(StoreDamagedException.class)
                    .hasMessageContaining(directory.resolve("db").toString());
            assertThat(direct.sequences(3)).containsExactly(1L);
        }
    }

    private void flipAByteOfTheLargestTable() throws IOException {
        try (Stream<Path> files = Files.list(directory.resolve("db"))) {
            Path largest = files.filter(file -> file.toString().endsWith(".sst"))
                    .max(Comparator.comparingLong(file -> file.toFile().length()))
                    .orElseThrow();
            try (RandomAccessFile bytes = new RandomAccessFile(largest.toFile(), "rw")) {
                bytes.seek(50_000);
                int before = bytes.read();
                bytes.seek(50_000);
                bytes.write(before ^ 1);
            }
        }
    }
}
