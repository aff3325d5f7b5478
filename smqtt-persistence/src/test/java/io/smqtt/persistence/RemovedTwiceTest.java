// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A removal that comes a second time, or too late, takes nothing from anybody else. */
class RemovedTwiceTest {

    private final ApplicationMessage shared = DirectStore.message(2_000);

    @TempDir
    Path directory;

    private DirectStore direct;

    @BeforeEach
    void open() throws Exception {
        direct = new DirectStore(directory.resolve("db"), StoreSettings.defaults());
    }

    @AfterEach
    void close() {
        direct.close();
    }

    @Test
    void aMessageOfASessionThatWasSweptDoesNotTakeItsBodyFromOthers() throws Exception {
        direct.commit(flush -> {
            flush.message(1, 1, shared);
            flush.message(2, 1, shared);
        });
        direct.commit(flush -> flush.removeSession(1));
        direct.sweepAll();

        direct.commit(flush -> flush.remove(1, 1));

        assertThat(direct.sequences(2)).containsExactly(1L);
        assertThat(direct.rows(Family.BODY)).isOne();
        assertThat(direct.rows(Family.QUEUE)).isOne();
    }

    @Test
    void aReaderThatIsBehindDoesNotBringBackWhatIsNeededToRemove() throws Exception {
        direct.commit(flush -> {
            for (long sequence = 1; sequence <= 2; sequence++) {
                flush.message(1, sequence, shared);
                flush.message(2, sequence, shared);
            }
        });
        long seen = direct.heads.removals();
        direct.database.read(view -> {
            direct.commit(flush -> flush.remove(1, 1));
            return direct.queues.page(view, seen, 1, 0, 10, 100_000);
        });

        direct.commit(flush -> flush.remove(1, 1));

        assertThat(direct.sequences(1)).containsExactly(2L);
        assertThat(direct.sequences(2)).containsExactly(1L, 2L);
    }

    @Test
    void theStateOfADeliveryThatIsNotThereLeavesNoRow() throws Exception {
        direct.commit(flush -> flush.message(1, 1, shared));
        direct.commit(flush -> flush.remove(1, 1));

        direct.commit(flush -> {
            flush.sent(1, 1);
            flush.sent(1, 2);
        });
        assertThat(direct.rows(Family.DELIVERY)).isZero();

        direct.commit(flush -> flush.message(1, 3, shared));
        direct.commit(flush -> flush.sent(1, 3));
        assertThat(direct.rows(Family.DELIVERY)).isOne();
        assertThat(direct.page(1).messages().get(0).delivery().packetId()).isEqualTo(7);
    }

    @Test
    void aRemovalThatFollowsItselfInABatchCountsOnce() {
        direct.commit(flush -> {
            flush.message(1, 1, shared);
            flush.message(1, 2, shared);
        });

        direct.commit(List.of(direct.flush(flush -> flush.remove(1, 1)), direct.flush(flush -> flush.remove(1, 1))));
        direct.commit(flush -> flush.remove(1, 1));

        assertThat(direct.sequences(1)).containsExactly(2L);
    }
}
