// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Retained messages against a matcher that walks over all of them. */
@Tag("slow")
class RetainedMessagesRandomTest {

    private final RetainedMessages retained = new RetainedMessages(Integer.MAX_VALUE, Long.MAX_VALUE);
    private final Map<String, ApplicationMessage> naive = new TreeMap<>();

    @ParameterizedTest
    @CsvSource({"1, 2, 30", "2, 3, 200", "3, 4, 600", "4, 6, 1500", "5, 8, 1500"})
    void cursorGivesWhatTheNaiveMatcherFinds(long seed, int maxLevels, int target) {
        Random random = new Random(seed);
        RandomTopics topics = new RandomTopics(random, maxLevels);
        long pairs = 0;

        while (pairs < 1_000_000) {
            for (int i = 0; i < 20; i++) {
                change(topics.name(), random.nextInt(target) >= naive.size() ? "x" : "");
            }
            for (int i = 0; i < 10; i++) {
                TopicFilter filter = TopicFilter.of(topics.filter());
                assertThat(all(filter)).as("%s", filter).containsExactlyElementsOf(expected(filter));
                pairs += naive.size();
            }
        }

        assertThat(retained.count()).isEqualTo(naive.size());
        new ArrayList<>(naive.keySet()).forEach(topic -> change(topic, ""));
        assertThat(retained.count()).isZero();
        assertThat(retained.bytes()).isZero();
    }

    @Test
    void cursorGivesEachTopicThatStaysOnceWhileOthersChange() throws InterruptedException {
        Random random = new Random(11);
        Set<String> staying = new HashSet<>();
        RandomTopics topics = new RandomTopics(random, 5);
        for (int i = 0; i < 300; i++) {
            String topic = topics.name();
            staying.add(topic);
            retained.store(message(topic, "stay"));
        }
        AtomicBoolean stop = new AtomicBoolean();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread writer = new Thread(() -> {
            RandomTopics others = new RandomTopics(new Random(12), 5);
            for (int i = 0; !stop.get(); i++) {
                String topic = others.name();
                String payload = staying.contains(topic) ? "stay" + i : i % 2 == 0 ? "come" : "";
                retained.store(message(topic, payload));
            }
        });
        writer.setUncaughtExceptionHandler((thread, thrown) -> failure.set(thrown));
        writer.start();

        for (int i = 0; i < 1_500; i++) {
            TopicFilter filter = TopicFilter.of(topics.filter());
            Map<String, Integer> times = new HashMap<>();
            for (ApplicationMessage message : all(filter)) {
                assertThat(filter.matches(message.topic())).isTrue();
                times.merge(message.topic().value(), 1, Integer::sum);
            }
            for (String topic : staying) {
                if (filter.matches(TopicName.of(topic))) {
                    assertThat(times).as("%s", filter).containsKey(topic);
                }
            }
            assertThat(times.values()).allMatch(count -> count == 1);
        }
        stop.set(true);
        writer.join();
        assertThat(failure).hasNullValue();
    }

    private void change(String topic, String payload) {
        ApplicationMessage message = message(topic, payload);
        boolean present = naive.containsKey(topic);
        RetainedMessages.Outcome expected = payload.isEmpty()
                ? present ? RetainedMessages.Outcome.REMOVED : RetainedMessages.Outcome.NOTHING_TO_REMOVE
                : present ? RetainedMessages.Outcome.REPLACED : RetainedMessages.Outcome.STORED;

        assertThat(retained.store(message)).isEqualTo(expected);

        if (payload.isEmpty()) {
            naive.remove(topic);
        } else {
            naive.put(topic, message);
        }
        assertThat(retained.get(message.topic())).isSameAs(naive.get(topic));
    }

    private List<ApplicationMessage> expected(TopicFilter filter) {
        List<ApplicationMessage> expected = new ArrayList<>();
        for (ApplicationMessage message : naive.values()) {
            if (filter.matches(message.topic())) {
                expected.add(message);
            }
        }
        return expected;
    }

    private List<ApplicationMessage> all(TopicFilter filter) {
        List<ApplicationMessage> all = new ArrayList<>();
        RetainedCursor cursor = retained.cursor(filter);
        for (ApplicationMessage next = cursor.next(0); next != null; next = cursor.next(0)) {
            all.add(next);
        }
        assertThat(cursor.isDone()).isTrue();
        return all;
    }

    private static ApplicationMessage message(String topic, String payload) {
        return ApplicationMessage.builder(topic).payload(payload).retain(true).build();
    }
}
