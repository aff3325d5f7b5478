// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.topic.TopicName;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TopicShareTest {

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 16, 64})
    void eachTopicBelongsToOneOfTheParts(int count) {
        int[] topics = new int[count];
        for (int i = 0; i < 100 * count; i++) {
            TopicName topic = TopicName.of("line/" + i + "/state");
            int[] takers = IntStream.range(0, count)
                    .filter(number -> new TopicShare(number, count).has(topic))
                    .toArray();
            assertThat(takers).hasSize(1);
            topics[takers[0]]++;
        }
        assertThat(Arrays.stream(topics)).allMatch(part -> part > 50 && part < 200);
    }

    /** A queue that was stored by one version has topics of the same part in another one. */
    @Test
    void thePartOfATopicStays() {
        assertThat(IntStream.range(0, 8)
                        .filter(i -> new TopicShare(0, 2).has(TopicName.of("t/" + i)))
                        .toArray())
                .containsExactly(0, 1, 4, 5, 6);
    }

    @Test
    void aNumberBeyondTheCountIsRefused() {
        assertThatThrownBy(() -> new TopicShare(2, 2)).isInstanceOf(IllegalArgumentException.class);
    }
}
