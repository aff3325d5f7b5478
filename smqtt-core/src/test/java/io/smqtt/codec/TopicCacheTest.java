// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.message.ReasonCode;
import io.smqtt.topic.TopicName;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TopicCacheTest {

    private final TopicCache cache = new TopicCache(1_000, 10);

    private TopicName get(String topic) {
        byte[] bytes = ("xyz" + topic).getBytes(StandardCharsets.UTF_8);
        return cache.get(bytes, 3, bytes.length - 3);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "a/b", "sensors/12/temperature", "äöü/€/😀", "$SYS/x", "/"})
    void aTopicSeenLatelyIsTheSameObject(String topic) {
        TopicName first = get(topic);

        assertThat(first.value()).isEqualTo(topic);
        assertThat(get(topic)).isSameAs(first);
    }

    @Test
    void everyTopicOfMoreThanTheTableHoldsIsRight() {
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 50_000; i++) {
                assertThat(get("sensors/" + i + "/temperature").value()).isEqualTo("sensors/" + i + "/temperature");
            }
        }
    }

    @Test
    void theBytesAreCopied() {
        byte[] bytes = {'a', '/', 'b'};
        TopicName topic = cache.get(bytes, 0, 3);
        bytes[0] = 'z';

        assertThat(topic.utf8()).containsExactly('a', '/', 'b');
        assertThat(get("a/b")).isSameAs(topic);
    }

    @Test
    void longTopicsAreNotKept() {
        String topic = "x".repeat(257);

        assertThat(get(topic)).isEqualTo(get(topic)).isNotSameAs(get(topic));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a/+", "#", "1/2/3/4/5/6/7/8/9/10/11"})
    void whatIsNoTopicNameIsRefusedEachTime(String topic) {
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> get(topic))
                    .isInstanceOfSatisfying(
                            ProtocolViolation.class,
                            e -> assertThat(e.reason()).isEqualTo(ReasonCode.TOPIC_NAME_INVALID));
        }
    }

    @Test
    void aTopicTooLongIsRefusedBeforeItsBytesAreLookedAt() {
        assertThatThrownBy(() -> cache.get(new byte[1_001], 0, 1_001))
                .isInstanceOfSatisfying(
                        ProtocolViolation.class, e -> assertThat(e.reason()).isEqualTo(ReasonCode.TOPIC_NAME_INVALID));
    }
}
