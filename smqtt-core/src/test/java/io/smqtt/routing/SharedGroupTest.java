// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.SharedStrategy;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SharedGroupTest {

    private final List<TestSubscriber> members = new ArrayList<>();

    @Test
    void roundRobinGivesEachOnlineMemberTheSameShare() {
        SharedGroup group = group(SharedStrategy.ROUND_ROBIN, 5);
        members.get(1).online = false;
        members.get(2).online = false;

        Map<Subscriber, Integer> counts = spread(group, 300);

        assertThat(counts)
                .hasSize(3)
                .allSatisfy((member, count) -> assertThat(count).isEqualTo(100));
    }

    @Test
    void randomReachesEachMember() {
        assertThat(spread(group(SharedStrategy.RANDOM, 4), 4_000))
                .hasSize(4)
                .allSatisfy((member, count) -> assertThat(count).isBetween(500, 1_500));
    }

    @Test
    void hashOfClientKeepsAPublisherWithOneMember() {
        SharedGroup group = group(SharedStrategy.HASH_CLIENT, 4);
        Map<Subscriber, Integer> counts = new HashMap<>();
        for (int i = 0; i < 1_000; i++) {
            Subscriber first = chosen(group, message("t" + i, "publisher" + i));
            assertThat(chosen(group, message("other", "publisher" + i))).isSameAs(first);
            counts.merge(first, 1, Integer::sum);
        }

        assertThat(counts)
                .hasSize(4)
                .allSatisfy((member, count) -> assertThat(count).isBetween(150, 350));
    }

    @Test
    void hashOfTopicKeepsATopicWithOneMember() {
        SharedGroup group = group(SharedStrategy.HASH_TOPIC, 4);
        Map<Subscriber, Integer> counts = new HashMap<>();
        for (int i = 0; i < 1_000; i++) {
            Subscriber first = chosen(group, message("t" + i, "publisher" + i));
            assertThat(chosen(group, message("t" + i, "other"))).isSameAs(first);
            counts.merge(first, 1, Integer::sum);
        }

        assertThat(counts)
                .hasSize(4)
                .allSatisfy((member, count) -> assertThat(count).isBetween(150, 350));
    }

    @Test
    void leastInFlightTakesTheOneThatWaitsForLeast() {
        SharedGroup group = group(SharedStrategy.LEAST_IN_FLIGHT, 3);
        members.get(0).inFlight = 5;
        members.get(1).inFlight = 2;
        members.get(2).inFlight = 9;
        assertThat(chosen(group, message("t", "p"))).isSameAs(members.get(1));

        members.get(1).online = false;
        assertThat(chosen(group, message("t", "p"))).isSameAs(members.get(0));

        members.forEach(member -> member.inFlight = 0);
        members.get(1).online = true;
        assertThat(spread(group, 300)).hasSize(3);
    }

    @Test
    void localFirstTakesOthersOnlyWithoutOnlineMembersOfThisNode() {
        SharedGroup group = group(SharedStrategy.LOCAL_FIRST, 4);
        members.get(0).relay = true;
        members.get(1).relay = true;
        assertThat(spread(group, 100)).containsOnlyKeys(members.get(2), members.get(3));

        members.get(2).online = false;
        members.get(3).online = false;
        assertThat(spread(group, 100)).containsOnlyKeys(members.get(0), members.get(1));
    }

    @ParameterizedTest
    @EnumSource(names = {"ROUND_ROBIN", "LEAST_IN_FLIGHT", "LOCAL_FIRST"})
    void turnsGoRoundAlsoWhereMembersArePassedOver(SharedStrategy strategy) {
        for (int size = 2; size <= 4; size++) {
            members.clear();
            SharedGroup group = group(strategy, size);
            members.forEach(member -> member.relay = true);
            assertThat(spread(group, 600)).hasSize(size).containsValue(600 / size);
        }
    }

    @ParameterizedTest
    @EnumSource
    void offlineMemberGetsNothingWhileOneIsOnline(SharedStrategy strategy) {
        SharedGroup group = group(strategy, 40);
        members.forEach(member -> member.online = false);
        members.get(23).online = true;
        members.get(23).inFlight = 1_000;
        members.get(23).relay = true;

        for (int i = 0; i < 500; i++) {
            assertThat(chosen(group, message("t" + i, "p" + i))).isSameAs(members.get(23));
        }
    }

    @ParameterizedTest
    @EnumSource
    void offlineMembersAreNotChosenAndAllowToQueueAboveQos0(SharedStrategy strategy) {
        SharedGroup group = group(strategy, 5);
        members.forEach(member -> member.online = false);

        assertThat(group.select(message("t", "p"))).isNull();
        assertThat(group.mayQueue()).isTrue();

        SubscriptionIndex index = new SubscriptionIndex(strategy);
        index.add(new TestSubscriber("m").to("t", "g", QoS.AT_MOST_ONCE, Subscription.NO_IDENTIFIER));
        SharedGroup ofQos0 = index.group("g", TopicFilter.of("t"));
        assertThat(ofQos0).isNotNull();
        assertThat(ofQos0.mayQueue()).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void onlyMembersThatAreWantedAreChosen(SharedStrategy strategy) {
        SharedGroup group = group(strategy, 3);
        for (int i = 0; i < 50; i++) {
            ApplicationMessage message = message("t" + i, "p" + i);
            assertThat(subscriber(group.select(message, member -> member != members.get(0))))
                    .isNotSameAs(members.get(0));
            assertThat(subscriber(group.select(message, member -> member == members.get(2))))
                    .isSameAs(members.get(2));
            assertThat(group.select(message, member -> false)).isNull();
        }
    }

    @Test
    void theEndOfAGroupIsNotified() {
        SubscriptionIndex index = new SubscriptionIndex(SharedStrategy.ROUND_ROBIN);
        List<SharedFilter> ended = new ArrayList<>();
        index.whenGroupEnds(ended::add);
        for (String filter : List.of("a/b", "a/+")) {
            TestSubscriber one = new TestSubscriber("one");
            TestSubscriber two = new TestSubscriber("two");
            index.add(one.to(filter, "g"));
            index.add(two.to(filter, "g"));
            index.add(two.to(filter));
            index.remove(two, TopicFilter.of(filter), null);
            index.remove(two, TopicFilter.of(filter), "g");
            assertThat(ended).isEmpty();
            index.remove(one, TopicFilter.of(filter), "g");
            assertThat(ended).containsExactly(SharedFilter.of("$share/g/" + filter));
            ended.clear();
        }
    }

    @ParameterizedTest
    @EnumSource
    void groupIsFoundUntilItsLastMemberLeaves(SharedStrategy strategy) {
        SubscriptionIndex index = new SubscriptionIndex(strategy);
        Matches matches = new Matches();
        for (String filter : List.of("a/b", "a/+", "#")) {
            TestSubscriber one = new TestSubscriber("one");
            TestSubscriber two = new TestSubscriber("two");
            index.add(one.to(filter, "g"));
            index.add(two.to(filter, "g"));
            index.add(two.to(filter, "h"));
            index.match(TopicName.of("a/b"), matches);
            assertThat(matches.sharedSize()).isEqualTo(2);
            assertThat(matches.isEmpty()).isFalse();
            assertThat(index.group(one.to(filter, "h"))).isNotNull().isNotSameAs(index.group(one.to(filter, "g")));
            assertThat(index.group(one.to(filter))).isNull();

            assertThat(index.remove(one, TopicFilter.of(filter), "h")).isFalse();
            assertThat(index.remove(one, TopicFilter.of(filter), "g")).isTrue();
            assertThat(index.remove(two, TopicFilter.of(filter), "g")).isTrue();
            assertThat(index.group(one.to(filter, "g"))).isNull();
            assertThat(index.remove(two, TopicFilter.of(filter), "h")).isTrue();
            index.match(TopicName.of("a/b"), matches);
            assertThat(matches.isEmpty()).isTrue();
        }
    }

    private SharedGroup group(SharedStrategy strategy, int size) {
        SubscriptionIndex index = new SubscriptionIndex(strategy);
        for (int i = 0; i < size; i++) {
            members.add(new TestSubscriber("m" + i));
            index.add(members.get(i).to("#", "g"));
        }
        Matches matches = new Matches();
        index.match(TopicName.of("t"), matches);
        assertThat(matches.shared(0).size()).isEqualTo(size);
        return matches.shared(0);
    }

    private static Map<Subscriber, Integer> spread(SharedGroup group, int messages) {
        Map<Subscriber, Integer> counts = new HashMap<>();
        for (int i = 0; i < messages; i++) {
            counts.merge(chosen(group, message("t" + i, "p" + i)), 1, Integer::sum);
        }
        return counts;
    }

    private static Subscriber chosen(SharedGroup group, ApplicationMessage message) {
        return subscriber(group.select(message));
    }

    private static Subscriber subscriber(@Nullable Subscription chosen) {
        if (chosen == null) {
            throw new AssertionError("no member was chosen");
        }
        return chosen.subscriber();
    }

    private static ApplicationMessage message(String topic, String publisher) {
        return ApplicationMessage.builder(topic)
                .qos(QoS.AT_LEAST_ONCE)
                .build()
                .accepted(ApplicationMessage.NO_ID, 0, publisher);
    }
}
