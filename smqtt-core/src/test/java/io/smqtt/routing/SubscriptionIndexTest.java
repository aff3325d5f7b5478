// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.SharedStrategy;
import io.smqtt.message.QoS;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SubscriptionIndexTest {

    private final SubscriptionIndex index = new SubscriptionIndex(SharedStrategy.ROUND_ROBIN);
    private final Matches matches = new Matches();
    private final TestSubscriber subscriber = new TestSubscriber("one");

    /** [MQTT-4.7.1-2] [MQTT311-4.7.1-3] [MQTT-4.7.2-1] [MQTT-4.7.3-4]. */
    @ParameterizedTest
    @CsvSource({
        "a/#, a, true",
        "a/#, a/, true",
        "a/#, a/b/c, true",
        "a/#, ab, false",
        "a/+, a/, true",
        "a/+, a, false",
        "a/+, a/b/c, false",
        "+, a, true",
        "+, /a, false",
        "/+, /a, true",
        "+/+, /a, true",
        "+/+, /, true",
        "#, $SYS/x, false",
        "+/x, $SYS/x, false",
        "$SYS/#, $SYS/x, true",
        "$SYS/+, $SYS/x, true",
        "+/#, $SYS, false",
        "a/$b/+, a/$b/c, true",
        "+/$b, a/$b, true",
        "A, a, false",
        "a, a/, false",
        "a//b, a//b, true",
        "a/+/b, a//b, true"
    })
    void matchesByTheRulesOfWildcards(String filter, String topic, boolean expected) {
        index.add(subscriber.to(filter));

        assertThat(matched(topic)).isEqualTo(expected ? 1 : 0);
        assertThat(TopicFilter.of(filter).matches(TopicName.of(topic))).isEqualTo(expected);
    }

    @Test
    void aSubscriberThatDoesNotTakeATopicIsNotFound() {
        TestSubscriber other = new TestSubscriber("other");
        other.takes = false;
        index.topicsAreShared();
        index.add(subscriber.to("a/#"));
        index.add(other.to("a/#"));
        index.add(other.to("a/b"));
        index.match(TopicName.of("a/b"), matches);

        assertThat(matches.size()).isEqualTo(1);
        assertThat(matches.get(0).subscriber()).isSameAs(subscriber);
    }

    /** [MQTT-3.8.4-3]. */
    @ParameterizedTest
    @ValueSource(strings = {"a/b", "a/+", "#", "a/+/c", "+"})
    void sameFilterReplacesTheSubscription(String filter) {
        Subscription first = subscriber.to(filter);
        Subscription second = subscriber.to(filter, null, QoS.EXACTLY_ONCE, 5);
        Subscription shared = subscriber.to(filter, "g");

        assertThat(index.add(first)).isNull();
        assertThat(index.add(shared)).isNull();
        assertThat(index.add(second)).isSameAs(first);
        assertThat(index.add(subscriber.to(filter, "g"))).isSameAs(shared);
        assertThat(index.size()).isEqualTo(2);
        assertThat(index.remove(subscriber, TopicFilter.of(filter), null)).isTrue();
        assertThat(index.remove(subscriber, TopicFilter.of(filter), "other")).isFalse();
        assertThat(index.remove(subscriber, TopicFilter.of(filter), "g")).isTrue();
        assertThat(index.size()).isZero();
    }

    @Test
    void versionGrowsWithEachChangeOnly() {
        long empty = index.version();
        index.add(subscriber.to("a/+"));
        long added = index.version();
        index.remove(subscriber, TopicFilter.of("a/b"), null);
        matched("a/b");
        assertThat(index.version()).isEqualTo(added).isGreaterThan(empty);

        index.add(subscriber.to("a/+"));
        long replaced = index.version();
        assertThat(replaced).isGreaterThan(added);

        index.remove(subscriber, TopicFilter.of("a/+"), null);
        assertThat(index.version()).isGreaterThan(replaced);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a/%d/+", "a/%d/#", "a/+/%d/n", "%d/+", "a/%d", "+/%d/x/#"})
    void manyFiltersLeaveNothingBehind(String kind) {
        int count = 30_000;
        for (int i = 0; i < count; i++) {
            index.add(subscriber.to(kind.formatted(i)));
        }
        for (int i = 0; i < count; i += 7) {
            String topic = kind.formatted(i).replace('+', 'x').replace('#', 'y');
            assertThat(matched(topic)).as(topic).isEqualTo(1);
        }
        for (int i = 0; i < count; i++) {
            assertThat(index.remove(subscriber, TopicFilter.of(kind.formatted(i)), null))
                    .isTrue();
        }

        assertThat(index.nodeCount()).isZero();
        assertThat(index.exactCapacity()).isLessThanOrEqualTo(2_048);
        assertThat(index.size()).isZero();
    }

    @Test
    void manySubscribersShareOneFilter() {
        List<TestSubscriber> many = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
            many.add(new TestSubscriber("s" + i));
            index.add(many.get(i).to("a/+"));
            assertThat(index.add(many.get(i / 2).to("a/+"))).isNotNull();
        }
        assertThat(matched("a/b")).isEqualTo(3_000);

        for (int i = 0; i < 3_000; i += 2) {
            assertThat(index.remove(many.get(i), TopicFilter.of("a/+"), null)).isTrue();
        }
        assertThat(matched("a/b")).isEqualTo(1_500);
        for (int i = 0; i < matches.size(); i++) {
            assertThat(many.indexOf(matches.get(i).subscriber()) % 2).isEqualTo(1);
        }
        for (int i = 2_999; i > 0; i -= 2) {
            assertThat(index.remove(many.get(i), TopicFilter.of("a/+"), null)).isTrue();
        }
        assertThat(index.size()).isZero();
        assertThat(index.nodeCount()).isZero();
    }

    @Test
    void filterWithVeryManyLevelsIsFoundAndPruned() {
        String deep = "a/".repeat(20_000);
        index.add(subscriber.to(deep + "+"));
        index.add(new TestSubscriber("two").to(deep + "b/#"));

        assertThat(matched(deep + "b")).isEqualTo(2);
        assertThat(matched(deep + "c")).isEqualTo(1);
        index.remove(subscriber, TopicFilter.of(deep + "+"), null);
        assertThat(index.nodeCount()).isZero();
        assertThat(matched(deep + "b/c/d")).isEqualTo(1);
    }

    @Test
    void lookUpsCreateNothing() {
        index.add(subscriber.to("a/+/c"));
        long version = index.version();

        for (int i = 0; i < 1_000; i++) {
            matched("a/" + i + "/d/" + i);
        }

        assertThat(index.version()).isEqualTo(version);
        assertThat(index.nodeCount()).isZero();
    }

    /** [MQTT-3.3.4-2]: the highest quality of service, all identifiers. */
    @ParameterizedTest
    @ValueSource(ints = {0, 3, 100})
    void overlapsMergeIntoOneDeliveryForEachSubscriber(int others) {
        for (int i = 0; i < others; i++) {
            index.add(new TestSubscriber("other" + i).to("a/+"));
        }
        index.add(subscriber.to("a/b", null, QoS.AT_MOST_ONCE, 1));
        index.add(subscriber.to("a/+", null, QoS.EXACTLY_ONCE, 2));
        index.add(subscriber.to("#", null, QoS.AT_LEAST_ONCE, 3));

        index.match(TopicName.of("a/b"), matches);
        matches.mergeOverlaps("publisher");

        assertThat(matches.size()).isEqualTo(others + 1);
        Subscription merged = matches.get(0);
        assertThat(merged.subscriber()).isSameAs(subscriber);
        assertThat(merged.maximumQos()).isEqualTo(QoS.EXACTLY_ONCE);
        assertThat(merged.identifiers()).containsExactlyInAnyOrder(1, 2, 3);
    }

    /** [MQTT-3.8.3-3]. */
    @Test
    void publisherGetsNothingByItsNoLocalSubscriptions() {
        TopicFilter filter = TopicFilter.of("a/+");
        index.add(new Subscription(subscriber, filter, null, QoS.EXACTLY_ONCE, true, false, 7));
        index.add(subscriber.to("a/b", null, QoS.AT_MOST_ONCE, 8));

        index.match(TopicName.of("a/b"), matches);
        matches.mergeOverlaps("one");
        assertThat(matches.size()).isEqualTo(1);
        assertThat(matches.get(0).identifiers()).containsExactly(8);

        index.match(TopicName.of("a/b"), matches);
        matches.mergeOverlaps("somebody else");
        assertThat(matches.get(0).identifiers()).containsExactlyInAnyOrder(7, 8);
    }

    private int matched(String topic) {
        index.match(TopicName.of(topic), matches);
        return matches.size();
    }

    @Test
    void anObserverIsShownWhatIsThereAndToldOfEachComingAndGoing() {
        List<String> seen = new ArrayList<>();
        index.add(subscriber.to("a/b"));
        index.add(subscriber.to("c/#"));
        index.observe(new SubscriptionObserver() {
            @Override
            public void added(Subscription subscription) {
                seen.add("+" + subscription.clientFilter());
            }

            @Override
            public void removed(Subscriber from, TopicFilter filter, String shareName) {
                seen.add("-" + (shareName == null ? "" : "$share/" + shareName + "/") + filter);
            }
        });
        assertThat(seen).containsExactlyInAnyOrder("+a/b", "+c/#");
        seen.clear();

        index.add(subscriber.to("a/b", null, QoS.EXACTLY_ONCE, 1)); // in the place of the other
        index.add(subscriber.to("d", "g", QoS.AT_LEAST_ONCE, 0));
        index.remove(subscriber, TopicFilter.of("d"), "g");
        index.remove(subscriber, TopicFilter.of("c/#"), null);
        index.remove(subscriber, TopicFilter.of("nothing"), null);

        assertThat(seen).containsExactly("+$share/g/d", "-$share/g/d", "-c/#");
    }

    @Test
    void routesOfOtherNodesAreNotCountedAsSubscriptionsOfThisOne() {
        TestSubscriber peer = new TestSubscriber("peer");
        peer.relay = true;
        TestSubscriber other = new TestSubscriber("other");
        index.add(peer.to("a/b"));
        index.add(peer.to("a/#", "g"));
        assertThat(index.size()).isEqualTo(2);
        assertThat(index.ownSize()).isZero();
        assertThat(index.ownGroups()).isZero();

        index.add(subscriber.to("a/b"));
        index.add(subscriber.to("a/b")); // replaces
        index.add(subscriber.to("a/#", "g"));
        index.add(other.to("a/#", "g"));
        index.add(other.to("a/#", "h"));
        assertThat(index.ownSize()).isEqualTo(4);
        assertThat(index.ownGroups()).isEqualTo(2);

        index.remove(peer, TopicFilter.of("a/#"), "g");
        index.remove(subscriber, TopicFilter.of("a/#"), "g");
        assertThat(index.ownSize()).isEqualTo(3);
        assertThat(index.ownGroups()).isEqualTo(2);
        index.remove(other, TopicFilter.of("a/#"), "g");
        index.remove(other, TopicFilter.of("a/#"), "g");
        assertThat(index.ownSize()).isEqualTo(2);
        assertThat(index.ownGroups()).isEqualTo(1);
    }
}
