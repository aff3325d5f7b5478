// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.topic.TopicName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DelayedTopicTest {

    private static final long MAX_SECONDS = 4_294_967;

    @ParameterizedTest
    @CsvSource({
        "$delayed/15/x/y, 15, x/y",
        "$delayed/0/a, 0, a",
        "$delayed/3600/$SYS/topic, 3600, $SYS/topic",
        "$delayed/4294967/a/b, 4294967, a/b",
        "$delayed/007//, 7, /",
        "$delay/60/a/b, 60, a/b",
    })
    void hasADelayAndATopic(String text, long seconds, String topic) {
        assertThat(DelayedTopic.of(text, DelayedTopic.prefixLength(text), MAX_SECONDS))
                .isEqualTo(new DelayedTopic(seconds, TopicName.of(topic)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "$delayed/",
                "$delayed/5",
                "$delayed/5/",
                "$delayed//a",
                "$delayed/x/a",
                "$delayed/-1/a",
                "$delayed/1.5/a",
                "$delayed/4294968/a",
                "$delayed/99999999999999999999/a",
                "$delayed/9223372036854775808/a",
                "$delayed/-9223372036854775808/a",
                "$delayed/+5/a",
                "$delayed/1e3/a",
                "$delayed/0x10/a",
                "$delayed/ 5/a",
                "$delayed/\u0665/a",
                "$delay/a"
            })
    void isRefusedWithoutADelayInRangeOrATopic(String text) {
        int prefix = DelayedTopic.prefixLength(text);
        assertThat(prefix).isPositive();
        assertThat(DelayedTopic.of(text, prefix, MAX_SECONDS)).isNull();
    }

    @Test
    void otherTopicsAreNotDelayed() {
        assertThat(DelayedTopic.prefixLength("$SYS/a")).isZero();
        assertThat(DelayedTopic.prefixLength("$delayed")).isZero();
        assertThat(DelayedTopic.prefixLength("delayed/5/a")).isZero();
    }
}
