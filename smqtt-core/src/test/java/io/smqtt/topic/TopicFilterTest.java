// SPDX-License-Identifier: Apache-2.0
package io.smqtt.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TopicFilterTest {

    private static final String[] LEVELS = {"", "a", "b", "ab", "$x"};

    /** The standard's rules, written as a regular expression. */
    private static boolean naive(String filter, String topic) {
        if (topic.startsWith("$") && (filter.startsWith("+") || filter.startsWith("#"))) { // [MQTT-4.7.2-1]
            return false;
        }
        StringBuilder pattern = new StringBuilder();
        String[] levels = filter.split("/", -1);
        for (int i = 0; i < levels.length; i++) {
            if (levels[i].equals("#")) {
                pattern.append(i == 0 ? ".*" : "(/.*)?");
            } else {
                pattern.append(i == 0 ? "" : "/").append(levels[i].equals("+") ? "[^/]*" : Pattern.quote(levels[i]));
            }
        }
        return topic.matches(pattern.toString());
    }

    private static String topic(Random random, boolean wildcards) {
        int count = 1 + random.nextInt(4);
        List<String> levels = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            boolean wild = wildcards && random.nextInt(3) == 0;
            levels.add(wild ? "+" : LEVELS[random.nextInt(LEVELS.length)]);
        }
        if (wildcards && random.nextInt(4) == 0) {
            levels.set(count - 1, "#");
        }
        return String.join("/", levels);
    }

    @Test
    void matchesAsTheStandardSays() {
        Random random = new Random(1);
        int matching = 0;
        for (int i = 0; i < 300_000; i++) {
            String filter = topic(random, true);
            String topic = topic(random, false);
            if (filter.isEmpty() || topic.isEmpty()) {
                continue;
            }
            boolean matches = TopicFilter.of(filter).matches(TopicName.of(topic));
            assertThat(matches).as("%s and %s", filter, topic).isEqualTo(naive(filter, topic));
            matching += matches ? 1 : 0;
        }
        assertThat(matching).isGreaterThan(10_000);
    }

    @Test
    void aFilterThatCoversAnotherMatchesAllThatTheOtherMatches() {
        Random random = new Random(2);
        List<TopicName> topics = allTopics();
        int covering = 0;
        for (int i = 0; i < 20_000; i++) {
            String wide = topic(random, true);
            String narrow = topic(random, true);
            if (wide.isEmpty() || narrow.isEmpty()) {
                continue;
            }
            TopicFilter wideFilter = TopicFilter.of(wide);
            TopicFilter narrowFilter = TopicFilter.of(narrow);
            boolean covers = wideFilter.covers(narrowFilter);
            boolean includes =
                    topics.stream().allMatch(topic -> !narrowFilter.matches(topic) || wideFilter.matches(topic));
            if (covers) {
                assertThat(includes).as("%s covers %s", wide, narrow).isTrue();
                covering++;
            }
        }
        assertThat(covering).isGreaterThan(1_000);
    }

    private static List<TopicName> allTopics() {
        List<String> texts = new ArrayList<>(List.of(LEVELS));
        List<String> longer = List.of(LEVELS);
        for (int depth = 2; depth <= 4; depth++) {
            List<String> next = new ArrayList<>();
            for (String prefix : longer) {
                for (String level : LEVELS) {
                    next.add(prefix + "/" + level);
                }
            }
            texts.addAll(next);
            longer = next;
        }
        return texts.stream().filter(text -> !text.isEmpty()).map(TopicName::of).toList();
    }

    @ParameterizedTest
    @CsvSource({
        "#, a/b, true", "a/#, a, true", "a/#, a/#, true", "a/#, a/+/b, true", "a/+, a/b, true", "a/+, a/+, true",
        "a/+, a/#, false", "a/b, a/+, false", "+/b, a/b, true", "+, #, false", "#, $SYS/x, false", "+/x, $SYS/x, false",
        "$SYS/#, $SYS/x, true", "a, a/b, false", "a/b, a, false", "a/+/#, a, false", "a/+/#, a/b, true"
    })
    void covers(String wide, String narrow, boolean expected) {
        assertThat(TopicFilter.of(wide).covers(TopicFilter.of(narrow))).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a#", "#/a", "a/#/b", "a+", "+a", "a/+b", "a\0b"})
    void refusesWhatIsNoFilter(String text) { // [MQTT-4.7.1-1] [MQTT-4.7.3-1]
        assertThatThrownBy(() -> TopicFilter.of(text)).isInstanceOf(InvalidTopicException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a/+", "#", "a\0b"})
    void refusesWhatIsNoName(String text) { // [MQTT-3.3.2-2]
        assertThatThrownBy(() -> TopicName.of(text)).isInstanceOf(InvalidTopicException.class);
    }

    @Test
    void countsBytesNotCharacters() { // [MQTT-4.7.3-3]
        assertThat(TopicFilter.of("x".repeat(65_535)).value()).hasSize(65_535);
        assertThatThrownBy(() -> TopicFilter.of("x".repeat(65_536))).isInstanceOf(InvalidTopicException.class);
        assertThatThrownBy(() -> TopicFilter.of("€".repeat(21_846))).isInstanceOf(InvalidTopicException.class);
        assertThatThrownBy(() -> TopicName.of("€".repeat(21_846))).isInstanceOf(InvalidTopicException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"$share", "$share/", "$share/g", "$share//t", "$share/g/", "$share/+/t", "$share/g#/t"})
    void refusesWhatIsNoSharedFilter(String text) { // [MQTT-4.8.2-1] [MQTT-4.8.2-2]
        assertThat(SharedFilter.isShared(text)).isTrue();
        assertThatThrownBy(() -> SharedFilter.of(text)).isInstanceOf(InvalidTopicException.class);
    }

    @Test
    void readsASharedFilter() {
        SharedFilter shared = SharedFilter.of("$share/g/a/#");
        assertThat(shared.shareName()).isEqualTo("g");
        assertThat(shared.filter()).isEqualTo(TopicFilter.of("a/#"));
        assertThat(shared).hasToString("$share/g/a/#");
        assertThat(SharedFilter.isShared("$shared/g")).isFalse();
        assertThat(TopicLevels.count("a//b/")).isEqualTo(4);
    }

    /** It would go out as another topic, with a question mark. */
    @ParameterizedTest
    @ValueSource(strings = {"s\ud800t", "\udc00", "a/\ud800", "\udc00\ud800", "\ud83d\ud83d\ude00"})
    void halfOfASurrogatePairIsNoTopicName(String topic) {
        assertThatThrownBy(() -> TopicName.of(topic))
                .isInstanceOf(InvalidTopicException.class)
                .hasMessageContaining("surrogate");
        assertThat(TopicName.of("a/\ud83d\ude00/b").utf8()).hasSize(8);
    }
}
