// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.concurrent.ImmediateEventExecutor;
import io.smqtt.config.SharedStrategy;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.util.List;
import org.junit.jupiter.api.Test;

class RecentMatchesTest {

    private final RecentMatches recent = new RecentMatches();
    private final Matches into = new Matches();
    private final TestSubscriber subscriber = new TestSubscriber("one");
    private final TopicName topic = TopicName.of("a/b");

    @Test
    void aTopicIsRememberedFromItsSecondMatchOn() {
        into.add(subscriber.to("a/b"));

        recent.matched(topic, into);
        assertThat(isKnown(topic, 0)).isFalse();
        recent.matched(topic, into);

        assertThat(isKnown(topic, 0)).isTrue();
        assertThat(isKnown(TopicName.of("a/b"), 0)).isFalse(); // an equal topic, but another instance
    }

    @Test
    void aChangeOfTheIndexForgetsAll() {
        remember(topic);

        assertThat(isKnown(topic, 1)).isFalse();
        assertThat(isKnown(topic, 1)).isFalse();
        assertThat(isKnown(topic, 0)).isFalse();
    }

    @Test
    void aSweepForgetsWhatTheIndexNoLongerHas() {
        Router router = new Router(
                List.of(ImmediateEventExecutor.INSTANCE),
                new SubscriptionIndex(SharedStrategy.ROUND_ROBIN),
                new RetainedMessages(10, 1_000),
                new BrokerObserver() {});
        RoutingLoop loop = router.loops().get(0);
        TestSubscriber gone = new TestSubscriber("gone");
        router.index().add(gone.to("a/b"));
        RecentMatches remembered = router.recentMatches(loop);
        for (int i = 0; i < 3; i++) {
            router.index().match(topic, new Matches(remembered));
        }
        assertThat(remembered.size()).isEqualTo(1);

        router.index().remove(gone, TopicFilter.of("a/b"), null);
        router.forgetFormerMatches(loop);

        assertThat(remembered.size()).isZero();
    }

    @Test
    void topicsThatTheDecoderDoesNotKnowAgainAreNotHeld() {
        TopicName longTopic = TopicName.of("x".repeat(257));
        remember(longTopic);
        assertThat(isKnown(longTopic, 0)).isFalse();
        assertThat(recent.holds(longTopic)).isFalse();

        TopicName longest = TopicName.of("x".repeat(256));
        remember(longest);
        assertThat(isKnown(longest, 0)).isTrue();
        assertThat(recent.holds(longest)).isTrue();
    }

    @Test
    void anEmptyResultIsRememberedToo() {
        remember(topic);
        Matches found = new Matches();

        assertThat(recent.recall(topic, 0, found)).isTrue();
        assertThat(found.isEmpty()).isTrue();
    }

    @Test
    void aLargeResultIsNot() {
        for (int i = 0; i < 9; i++) {
            into.add(subscriber.to("a/b"));
        }

        remember(topic);

        assertThat(isKnown(topic, 0)).isFalse();
    }

    @Test
    void groupsAreRememberedWithTheSubscriptions() {
        SubscriptionIndex index = new SubscriptionIndex(SharedStrategy.ROUND_ROBIN);
        index.add(subscriber.to("a/b"));
        index.add(subscriber.to("a/+", "g"));
        Matches found = new Matches(recent);
        for (int i = 0; i < 3; i++) {
            index.match(topic, found);

            assertThat(found.size()).isEqualTo(1);
            assertThat(found.sharedSize()).isEqualTo(1);
        }
        assertThat(isKnown(topic, index.version())).isTrue();
    }

    @Test
    void topicsThatShareASlotTakeTurns() { // "Aa" and "BB" have one hash
        TopicName other = TopicName.of("BB");
        TopicName one = TopicName.of("Aa");
        for (int i = 0; i < 10_000; i++) {
            remember(one);
            assertThat(isKnown(one, 0)).isTrue();
            remember(other);
            assertThat(isKnown(other, 0)).isTrue();
            assertThat(isKnown(one, 0)).isFalse();
        }
    }

    private void remember(TopicName wanted) {
        recent.matched(wanted, into);
        recent.matched(wanted, into);
    }

    private boolean isKnown(TopicName wanted, long version) {
        return recent.recall(wanted, version, new Matches());
    }
}
