// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.SharedStrategy;
import io.smqtt.topic.TopicName;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Matching while other threads change the index: a match finds what stays, and nothing that had gone before it began. */
@Tag("slow")
class SubscriptionIndexConcurrencyTest {

    private static final int CHANGES = 60_000;

    private final SubscriptionIndex index = new SubscriptionIndex(SharedStrategy.ROUND_ROBIN);
    private final AtomicLong clock = new AtomicLong();
    private final List<Subscription> staying = new ArrayList<>();

    @ParameterizedTest
    @CsvSource({"1, 2, 0, 30", "2, 4, 0, 200", "3, 3, 40, 1500", "4, 6, 2, 1000", "5, 1, 5000, 20000", "6, 2, 0, 600"})
    void matchesSeeNoTornState(int seed, int maxLevels, int numbers, int living) throws Exception {
        RandomTopics topics = new RandomTopics(new Random(seed), maxLevels, numbers);
        for (int i = 0; i < 100; i++) {
            Subscription subscription = new TestSubscriber("staying" + i).to(topics.filter(), i % 10 == 0 ? "g" : null);
            staying.add(subscription);
            index.add(subscription);
        }
        ExecutorService threads = Executors.newFixedThreadPool(3);
        try {
            CompletableFuture<?> first = CompletableFuture.runAsync(
                    () -> change(new RandomTopics(new Random(seed + 100), maxLevels, numbers), living), threads);
            CompletableFuture<?> second = CompletableFuture.runAsync(
                    () -> change(new RandomTopics(new Random(seed + 200), maxLevels, numbers), living), threads);
            CompletableFuture<?> both = CompletableFuture.allOf(first, second);
            Matches matches = new Matches();
            Matches remembering = new Matches(new RecentMatches());
            Map<String, TopicName> known = new HashMap<>();
            while (!both.isDone()) {
                TopicName topic = known.computeIfAbsent(topics.name(), TopicName::of);
                check(topic, matches);
                check(topic, remembering);
            }
            both.get(1, TimeUnit.MINUTES);
        } finally {
            threads.shutdownNow();
        }

        assertThat(index.size()).isEqualTo(staying.size());
        staying.forEach(one -> index.remove(one.subscriber(), one.filter(), one.shareName()));
        assertThat(index.nodeCount()).isZero();
        assertThat(index.size()).isZero();
    }

    private void change(RandomTopics topics, int living) {
        List<Subscription> mine = new ArrayList<>();
        for (int i = 0; i < CHANGES; i++) {
            if (mine.size() < living / 2 || (mine.size() < living && i % 2 == 0)) {
                Subscription added = new TestSubscriber("passing" + i).to(topics.filter(), i % 20 == 0 ? "g" : null);
                index.add(added);
                mine.add(added);
            } else {
                Collections.swap(mine, i % mine.size(), mine.size() - 1);
                remove(mine.remove(mine.size() - 1));
            }
        }
        mine.forEach(this::remove);
    }

    private void remove(Subscription subscription) {
        assertThat(index.remove(subscription.subscriber(), subscription.filter(), subscription.shareName()))
                .isTrue();
        ((TestSubscriber) subscription.subscriber()).removedAt = clock.incrementAndGet();
    }

    private void check(TopicName topic, Matches matches) {
        long begin = clock.get();
        index.match(topic, matches);

        Set<Subscription> found = Collections.newSetFromMap(new IdentityHashMap<>());
        for (int i = 0; i < matches.size(); i++) {
            Subscription one = matches.get(i);
            assertThat(found.add(one)).isTrue();
            assertThat(one.filter().matches(topic)).isTrue();
            assertThat(((TestSubscriber) one.subscriber()).removedAt).isGreaterThan(begin);
        }
        Set<String> groups = new HashSet<>();
        for (int i = 0; i < matches.sharedSize(); i++) {
            assertThat(groups.add(matches.shared(i).filter().value())).isTrue();
        }
        for (Subscription one : staying) {
            if (one.filter().matches(topic)) {
                assertThat(
                                one.shareName() == null
                                        ? found.contains(one)
                                        : groups.contains(one.filter().value()))
                        .as("%s finds %s", topic, one)
                        .isTrue();
            }
        }
    }
}
