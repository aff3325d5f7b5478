// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class PublishedOffsetsTest {

    private static final TopicPartition A = new TopicPartition("t", 0);
    private static final TopicPartition B = new TopicPartition("t", 1);

    private final PublishedOffsets offsets = new PublishedOffsets();

    @Test
    void aPartitionIsCommittedUpToTheFirstWithoutAnAnswer() {
        for (long offset : new long[] {5, 6, 9}) {
            offsets.taken(A, offset, 10);
        }
        offsets.taken(B, 1, 10);
        offsets.published(A, 6);
        assertThat(offsets.isChanged()).isFalse();
        assertThat(offsets.open()).isEqualTo(3);

        offsets.published(A, 5);
        assertThat(offsets.take()).containsOnly(java.util.Map.entry(A, new OffsetAndMetadata(7)));
        offsets.published(B, 1);
        offsets.published(A, 9);
        assertThat(offsets.take())
                .containsEntry(A, new OffsetAndMetadata(10))
                .containsEntry(B, new OffsetAndMetadata(2));
        assertThat(offsets.isChanged()).isFalse();
        assertThat(offsets.open()).isZero();
    }

    @Test
    void answersOfALostPartitionAreLeftOut() {
        offsets.taken(A, 5, 10);
        offsets.taken(B, 1, 10);
        offsets.forget(List.of(A));
        assertThat(offsets.open()).isEqualTo(1);

        offsets.published(A, 5);
        assertThat(offsets.take()).isEmpty();
        offsets.published(B, 1);
        offsets.published(B, 1);
        assertThat(offsets.open()).isZero();
    }

    @Test
    void recordsBehindOneWithoutAnAnswerAreHeld() {
        for (long offset = 0; offset < 5; offset++) {
            offsets.taken(A, offset, 10);
        }
        offsets.taken(B, 0, 7);
        assertThat(offsets.openBytes()).isEqualTo(57);
        for (long offset = 1; offset < 5; offset++) {
            offsets.published(A, offset);
        }
        assertThat(offsets.open()).isEqualTo(2);
        assertThat(offsets.openBytes()).isEqualTo(17);
        assertThat(offsets.held()).isEqualTo(6);

        offsets.published(A, 0);
        assertThat(offsets.held()).isEqualTo(1);
        offsets.forget(List.of(B));
        assertThat(offsets.held()).isZero();
        assertThat(offsets.openBytes()).isZero();
    }

    @Test
    void aRecordThatIsTakenAgainIsCountedOnce() {
        offsets.taken(A, 0, 10);
        offsets.taken(A, 1, 10);
        offsets.published(A, 1);
        offsets.taken(A, 0, 10);
        offsets.taken(A, 1, 10);
        assertThat(offsets.held()).isEqualTo(2);
        assertThat(offsets.open()).isEqualTo(2);
        assertThat(offsets.openBytes()).isEqualTo(20);

        offsets.published(A, 0);
        offsets.published(A, 1);
        assertThat(offsets.held()).isZero();
        assertThat(offsets.open()).isZero();
        assertThat(offsets.openBytes()).isZero();
        assertThat(offsets.take()).containsOnly(java.util.Map.entry(A, new OffsetAndMetadata(2)));
    }
}
