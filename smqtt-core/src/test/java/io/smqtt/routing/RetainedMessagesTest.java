// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.HeapWeight;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RetainedMessagesTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final RetainedMessages retained = new RetainedMessages(1_000, 1_000_000);

    /** [MQTT-3.3.1-5] [MQTT-3.3.1-6] [MQTT-3.3.1-7]. */
    @Test
    void lastMessageStaysUntilAnEmptyOneRemovesIt() {
        assertThat(retained.store(message("a", "1"))).isEqualTo(RetainedMessages.Outcome.STORED);
        assertThat(retained.store(message("a", "2"))).isEqualTo(RetainedMessages.Outcome.REPLACED);
        assertThat(payload(retained.get(TopicName.of("a")))).isEqualTo("2");
        assertThat(retained.count()).isEqualTo(1);
        assertThat(retained.bytes()).isEqualTo(HeapWeight.retained(message("a", "2")));

        assertThat(retained.store(message("a", ""))).isEqualTo(RetainedMessages.Outcome.REMOVED);
        assertThat(retained.store(message("a", ""))).isEqualTo(RetainedMessages.Outcome.NOTHING_TO_REMOVE);
        assertThat(retained.get(TopicName.of("a"))).isNull();
        assertThat(retained.count()).isZero();
        assertThat(retained.bytes()).isZero();
    }

    @Test
    void newTopicIsRefusedAtTheLimitOfCountWhileOldOnesMayChange() {
        RetainedMessages two = new RetainedMessages(2, Long.MAX_VALUE);
        two.store(message("a", "1"));
        two.store(message("b", "1"));

        assertThat(two.store(message("c", "1"))).isEqualTo(RetainedMessages.Outcome.COUNT_EXCEEDED);
        assertThat(two.store(message("b", "2"))).isEqualTo(RetainedMessages.Outcome.REPLACED);
        assertThat(two.store(message("a", ""))).isEqualTo(RetainedMessages.Outcome.REMOVED);
        assertThat(two.store(message("c", "1"))).isEqualTo(RetainedMessages.Outcome.STORED);
    }

    @Test
    void hiddenMessagesAreInNoCursorAndInNoFigure() {
        List<String> seen = new ArrayList<>();
        RetainedMessages one = new RetainedMessages(1, 1_000);
        one.store(message("$smqtt/object/user/a", "1"));
        one.observeHidden(message -> seen.add(message.topic().value()));
        one.store(message("$smqtt/object/user/b", "1"));
        one.store(message("$smqttx", "1"));

        assertThat(one.count()).isEqualTo(1);
        assertThat(one.bytes()).isEqualTo(HeapWeight.retained(message("$smqttx", "1")));
        assertThat(one.hidden("$smqtt/object/user/"))
                .extracting(RetainedMessagesTest::payload)
                .containsExactly("1", "1");
        assertThat(one.hidden("$smqtt/object/user/b")).hasSize(1);
        assertThat(one.hidden("$smqtt/object/ban/")).isEmpty();
        assertThat(one.get(TopicName.of("$smqtt/object/user/a"))).isNotNull();
        assertThat(seen).containsExactly("$smqtt/object/user/a", "$smqtt/object/user/b");
        for (String filter : List.of("#", "$smqtt/#", "$smqtt/object/user/a", "$smqtt/+/user/+")) {
            assertThat(one.cursor(TopicFilter.of(filter)).next(0)).isNull();
        }
        assertThat(one.mayMatch(TopicFilter.of("$smqtt/object/user/a"))).isFalse();
    }

    @Test
    void messageIsRefusedAtTheLimitOfBytes() {
        int one = HeapWeight.retained(message("a", "12345"));
        RetainedMessages small = new RetainedMessages(10, 2L * one);
        small.store(message("a", "12345"));
        small.store(message("b", "12345"));

        assertThat(small.store(message("b", "123456789"))).isEqualTo(RetainedMessages.Outcome.BYTES_EXCEEDED);
        assertThat(payload(small.get(TopicName.of("b")))).isEqualTo("12345");
        assertThat(small.store(message("c", "1"))).isEqualTo(RetainedMessages.Outcome.BYTES_EXCEEDED);
        assertThat(small.store(message("b", "1"))).isEqualTo(RetainedMessages.Outcome.REPLACED);
        assertThat(small.bytes()).isEqualTo(2L * one); // arrays end at eight bytes;
    }

    @Test
    void filtersThatMatchNothingAreRecognizedWithoutACursor() {
        assertThat(retained.mayMatch(TopicFilter.of("a/#"))).isFalse();
        retained.store(message("a/1", "x"));
        assertThat(retained.mayMatch(TopicFilter.of("a/#"))).isTrue();
        assertThat(retained.mayMatch(TopicFilter.of("a/1"))).isTrue();
        assertThat(retained.mayMatch(TopicFilter.of("a/2"))).isFalse();
        retained.store(message("a/1", ""));
        assertThat(retained.mayMatch(TopicFilter.of("a/1"))).isFalse();
    }

    @Test
    void cursorSkipsExpiredMessages() {
        retained.store(expiring("a/1", 5));
        retained.store(message("a/2", "x"));
        retained.store(expiring("a/3", 50));

        RetainedCursor cursor = retained.cursor(TopicFilter.of("a/+"));
        assertThat(topic(cursor.next(10 * SECOND))).isEqualTo("a/2");
        assertThat(topic(cursor.next(10 * SECOND))).isEqualTo("a/3");
        assertThat(cursor.next(10 * SECOND)).isNull();
        assertThat(retained.cursor(TopicFilter.of("a/1")).next(10 * SECOND)).isNull();
    }

    @Test
    void sweepRemovesExpiredMessagesStepByStep() {
        for (int i = 0; i < 100; i++) {
            retained.store(i % 2 == 0 ? expiring("a/" + i, i) : message("a/" + i, "x"));
        }
        assertThat(retained.removeExpired(0, 1_000)).isEqualTo(1);

        int removed = 1;
        for (int call = 0; call < 30; call++) {
            removed += retained.removeExpired(50 * SECOND, 7);
        }
        assertThat(removed).isEqualTo(26);
        assertThat(retained.count()).isEqualTo(74);

        for (int call = 0; call < 30; call++) {
            removed += retained.removeExpired(1_000 * SECOND, 7);
        }
        assertThat(removed).isEqualTo(50);
        assertThat(retained.count()).isEqualTo(50);
        assertThat(retained.removeExpired(1_000 * SECOND, 7)).isZero();
    }

    @Test
    void cursorSeesTheMessageOfTheMomentAndNoRemovedOne() {
        for (int i = 0; i < 5; i++) {
            retained.store(message("a/" + i, "old"));
        }
        RetainedCursor cursor = retained.cursor(TopicFilter.of("a/#"));
        assertThat(topic(cursor.next(0))).isEqualTo("a/0");

        retained.store(message("a/0", "new"));
        retained.store(message("a/1", ""));
        retained.store(message("a/2", "new"));

        ApplicationMessage next = cursor.next(0);
        assertThat(topic(next)).isEqualTo("a/2");
        assertThat(payload(next)).isEqualTo("new");
    }

    @Test
    void cursorJumpsOverTopicsThatCannotMatch() {
        for (int i = 0; i < 400; i++) {
            retained.store(message("a/b/" + i, "x"));
            retained.store(message("z/b/" + i, "x"));
        }
        retained.store(message("c/x", "x"));
        retained.store(message("c/x/y", "x"));
        RetainedCursor cursor = retained.cursor(TopicFilter.of("+/x"));

        assertThat(cursor.next(0, 1)).isNull();
        assertThat(cursor.isDone()).isFalse();
        assertThat(topic(cursor.next(0, 1))).isEqualTo("c/x");
        assertThat(cursor.next(0, 10)).isNull();
        assertThat(cursor.isDone()).isTrue();
    }

    @Test
    void cursorOfATopicWithoutWildcardEndsAfterIt() {
        retained.store(message("a", "x"));
        retained.store(message("a/b", "x"));
        RetainedCursor cursor = retained.cursor(TopicFilter.of("a"));

        assertThat(topic(cursor.next(0))).isEqualTo("a");
        assertThat(cursor.next(0)).isNull();
        assertThat(cursor.isDone()).isTrue();
        assertThat(retained.cursor(TopicFilter.of("0")).next(0)).isNull();
    }

    private static ApplicationMessage message(String topic, String payload) {
        return ApplicationMessage.builder(topic).payload(payload).retain(true).build();
    }

    private static ApplicationMessage expiring(String topic, int seconds) {
        return ApplicationMessage.builder(topic)
                .payload("x")
                .retain(true)
                .expiryInterval(Duration.ofSeconds(seconds))
                .build();
    }

    private static String topic(@Nullable ApplicationMessage message) {
        return message == null ? "none" : message.topic().value();
    }

    private static String payload(@Nullable ApplicationMessage message) {
        return message == null ? "none" : message.payload().asString();
    }

    @Test
    void anObserverIsShownWhatIsThereAndToldWhatIsStored() {
        List<String> seen = new ArrayList<>();
        retained.store(message("a", "before"));
        retained.observe(
                message -> seen.add(message.topic() + " " + message.payload().asString()));
        retained.store(message("a", "after"));
        retained.store(message("b", ""));

        assertThat(seen).containsExactly("a before", "a after", "b ");
    }

    @Test
    void anObserverIsNotToldWhatIsRefused() {
        List<ApplicationMessage> seen = new ArrayList<>();
        RetainedMessages none = new RetainedMessages(0, 1_000);
        none.observe(seen::add);
        none.store(message("a", "refused"));

        assertThat(seen).isEmpty();
        assertThatThrownBy(() -> none.observe(seen::add)).isInstanceOf(IllegalStateException.class);
    }
}
