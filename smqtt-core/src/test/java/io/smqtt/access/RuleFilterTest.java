// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.spi.ClientIdentity;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RuleFilterTest {

    private static final String[] LEVELS = {"", "a", "b", "+", "$SYS", "#"};

    @Test
    void coversWhatTheTopicFilterCovers() {
        Random random = new Random(20_260_713);
        ClientIdentity client = Clients.anonymous();
        int covered = 0;

        for (int i = 0; i < 200_000; i++) {
            String rule = randomFilter(random, true);
            String topic = randomFilter(random, random.nextBoolean());
            boolean name = topic.indexOf('+') < 0 && topic.indexOf('#') < 0;
            boolean expected = name
                    ? TopicFilter.of(rule).matches(TopicName.of(topic))
                    : TopicFilter.of(rule).covers(TopicFilter.of(topic));

            boolean actual = RuleFilter.compile(rule, false).covers(topic, client);

            assertThat(actual).as("%s covers %s", rule, topic).isEqualTo(expected);
            covered += actual ? 1 : 0;
        }
        assertThat(covered).isGreaterThan(10_000);
    }

    @ParameterizedTest
    @CsvSource({
        "devices/%c/up, devices/c1/up, true",
        "devices/%c/up, devices/c2/up, false",
        "devices/%c/up, devices/+/up, false",
        "devices/%c/#, devices/c1/+/x, true",
        "devices/%c/#, devices/#, false",
        "users/%u/%c, users/alice/c1, true",
        "users/%u-%c, users/alice-c1, true",
        "users/%u-%c, users/alice-c1x, false",
        "%c%c, c1c1, true",
        "%d/%, %d/%, true",
        "%%c, %c1, true",
    })
    void fillsInTheClientsNames(String pattern, String topic, boolean covered) {
        RuleFilter filter = RuleFilter.compile(pattern, true);

        assertThat(filter.covers(topic, Clients.client("c1", "alice"))).isEqualTo(covered);
    }

    @Test
    void topicRulesFillInNothing() {
        RuleFilter filter = RuleFilter.compile("devices/%c", false);

        assertThat(filter.covers("devices/%c", Clients.client("c1", null))).isTrue();
        assertThat(filter.covers("devices/c1", Clients.client("c1", null))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"+", "#", "a/b", "a+", "$SYS", "", "/", "a\0"})
    void namesThatCouldChangeTheFilterAreNotFilledIn(String name) {
        assertThat(RuleFilter.compile("%c/#", true).fill(Clients.client(name, "alice")))
                .isEqualTo(RuleFilter.Fill.UNSAFE);
        assertThat(RuleFilter.compile("%u/#", true).fill(Clients.client("c1", name)))
                .isEqualTo(RuleFilter.Fill.UNSAFE);
        assertThat(RuleFilter.compile("%u/#", true).fill(Clients.client(name, "alice")))
                .isEqualTo(RuleFilter.Fill.POSSIBLE);
        assertThat(RuleFilter.compile("x/#", true).fill(Clients.client(name, name)))
                .isEqualTo(RuleFilter.Fill.POSSIBLE);
    }

    @Test
    void anonymousClientsHaveNoUserNameToFillIn() {
        assertThat(RuleFilter.compile("%u/#", true).fill(Clients.anonymous())).isEqualTo(RuleFilter.Fill.ABSENT);
        assertThat(RuleFilter.compile("%u/#", true).covers("null/x", Clients.anonymous()))
                .isFalse();
    }

    private static String randomFilter(Random random, boolean wildcards) {
        StringBuilder filter = new StringBuilder();
        int levels = 1 + random.nextInt(4);
        for (int i = 0; i < levels; i++) {
            boolean last = i == levels - 1;
            int kinds = !wildcards ? 3 : last ? LEVELS.length : LEVELS.length - 1;
            int kind = random.nextInt(kinds);
            filter.append(i == 0 && random.nextInt(8) == 0 ? "$SYS" : LEVELS[kind]);
            filter.append(last ? "" : "/");
        }
        return filter.isEmpty() ? "a" : filter.toString();
    }
}
