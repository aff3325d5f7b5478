// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.basic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.topic.InvalidTopicException;
import org.junit.jupiter.api.Test;

class KnownTopicsTest {

    private final KnownTopics topics = new KnownTopics();

    @Test
    void aTextThatComesAgainHasTheSameName() {
        assertThat(topics.get(String.join("/", "a", "b"))).isSameAs(topics.get("a/b"));
    }

    @Test
    void eachTextHasItsOwnNameWhateverPlaceItHas() {
        for (int i = 0; i < 5_000; i++) {
            assertThat(topics.get("sensors/" + i).value()).isEqualTo("sensors/" + i);
        }
    }

    @Test
    void aLongNameIsNotKept() {
        String text = "x".repeat(129);

        assertThat(topics.get(text)).isEqualTo(topics.get(text)).isNotSameAs(topics.get(text));
    }

    @Test
    void aTextThatIsNoTopicNameIsRefusedEachTime() {
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> topics.get("a/#")).isInstanceOf(InvalidTopicException.class);
        }
    }
}
