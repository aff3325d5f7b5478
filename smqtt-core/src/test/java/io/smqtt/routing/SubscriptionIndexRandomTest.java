// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.SharedStrategy;
import io.smqtt.topic.TopicName;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The index against a matcher that walks over all filters: the same answer for millions of filters and topics. */
@Tag("slow")
class SubscriptionIndexRandomTest {

    private final Map<String, Subscription> naive = new HashMap<>();
    private final List<String> keys = new ArrayList<>();
    private final SubscriptionIndex index = new SubscriptionIndex(SharedStrategy.ROUND_ROBIN);
    private final Matches matches = new Matches();
    private final Matches remembering = new Matches(new RecentMatches());
    private final Map<String, TopicName> known = new HashMap<>();
    private long pairs;

    @ParameterizedTest
    @CsvSource({
        "1, 3, 2, 40, 0",
        "2, 3, 5, 400, 0",
        "3, 4, 3, 400, 0",
        "4, 5, 40, 2000, 0",
        "5, 6, 3, 2000, 0",
        "6, 2, 200, 3000, 0",
        "7, 8, 3, 1000, 0",
        "8, 2, 3, 2000, 30",
        "9, 3, 3, 6000, 1000",
        "10, 3, 3, 3000, 12"
    })
    void findsWhatTheNaiveMatcherFinds(long seed, int maxLevels, int subscriberCount, int target, int numbers) {
        Random random = new Random(seed);
        RandomTopics topics = new RandomTopics(random, maxLevels, numbers);
        List<TestSubscriber> subscribers = new ArrayList<>();
        for (int i = 0; i < subscriberCount; i++) {
            subscribers.add(new TestSubscriber("s" + i));
        }

        while (pairs < 1_000_000) {
            boolean grow = random.nextInt(target) >= naive.size() / 2;
            for (int i = 0; i < 50; i++) {
                TestSubscriber subscriber = subscribers.get(random.nextInt(subscriberCount));
                if (random.nextInt(10) < (grow ? 7 : 3)) {
                    add(subscriber.to(topics.filter(), random.nextInt(10) == 0 ? "g" + random.nextInt(2) : null));
                } else if (!naive.isEmpty()) {
                    remove(random);
                }
            }
            for (int i = 0; i < 20; i++) {
                check(known.computeIfAbsent(topics.name(), TopicName::of));
            }
        }

        assertThat(shown()).isEqualTo(identitySet(naive.values()));
        while (!naive.isEmpty()) {
            remove(random);
        }
        assertThat(index.nodeCount()).isZero();
        assertThat(index.size()).isZero();
        assertThat(shown()).isEmpty();
    }

    private void add(Subscription subscription) {
        String key = subscription.subscriber().id() + ' ' + subscription.clientFilter();
        long version = index.version();

        Subscription replaced = naive.put(key, subscription);
        if (replaced == null) {
            keys.add(key);
        }
        assertThat(index.add(subscription)).isSameAs(replaced);
        assertThat(index.size()).isEqualTo(naive.size());
        assertThat(index.version()).isGreaterThan(version);
    }

    private void remove(Random random) {
        int last = keys.size() - 1;
        Collections.swap(keys, random.nextInt(keys.size()), last);
        Subscription subscription = naive.remove(keys.remove(last));
        if (subscription == null) {
            throw new IllegalStateException("the key of no subscription");
        }

        assertThat(index.remove(subscription.subscriber(), subscription.filter(), subscription.shareName()))
                .isTrue();
        assertThat(index.remove(subscription.subscriber(), subscription.filter(), subscription.shareName()))
                .isFalse();
        assertThat(index.size()).isEqualTo(naive.size());
    }

    private void check(TopicName topic) {
        Set<Subscription> expected = identitySet(List.of());
        for (Subscription subscription : naive.values()) {
            if (subscription.filter().matches(topic)) {
                expected.add(subscription);
            }
        }
        pairs += naive.size();

        index.match(topic, matches);
        assertThat(found(matches)).as("%s", topic).isEqualTo(expected);
        for (int i = 0; i < 3; i++) { // not known, then known, then remembered
            index.match(topic, remembering);
            assertThat(found(remembering)).as("%s", topic).isEqualTo(expected);
            assertThat(remembering.filters()).isEqualTo(matches.filters());
        }
    }

    private static Set<Subscription> found(Matches matches) {
        Set<Subscription> found = identitySet(List.of());
        for (int i = 0; i < matches.size(); i++) {
            assertThat(found.add(matches.get(i))).isTrue();
        }
        for (int i = 0; i < matches.sharedSize(); i++) {
            addMembers(matches.shared(i), found);
        }
        return found;
    }

    private static void addMembers(SharedGroup group, Set<Subscription> found) {
        Object[] members = group.members().snapshot();
        for (int i = 0; i < MemberList.size(members); i++) {
            assertThat(found.add(MemberList.get(members, i))).isTrue();
        }
    }

    private Set<Subscription> shown() {
        Set<Subscription> shown = identitySet(List.of());
        index.forEach(shown::add);
        return shown;
    }

    private static Set<Subscription> identitySet(Iterable<Subscription> content) {
        Set<Subscription> set = Collections.newSetFromMap(new IdentityHashMap<>());
        content.forEach(set::add);
        return set;
    }
}
