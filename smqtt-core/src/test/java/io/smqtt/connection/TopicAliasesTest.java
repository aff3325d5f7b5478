// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.codec.ProtocolViolation;
import io.smqtt.message.ReasonCode;
import io.smqtt.topic.TopicName;
import org.junit.jupiter.api.Test;

class TopicAliasesTest {

    private static final TopicName A = TopicName.of("a/long/topic");
    private static final TopicName B = TopicName.of("b/long/topic");
    private static final TopicName C = TopicName.of("c/long/topic");

    private static void assertRefused(InboundAliases aliases, TopicName topic, int alias, ReasonCode reason) {
        assertThatThrownBy(() -> aliases.resolve(topic, alias))
                .isInstanceOfSatisfying(
                        ProtocolViolation.class,
                        violation -> assertThat(violation.reason()).isEqualTo(reason));
    }

    @Test
    void theBrokerLearnsTheClientsAliases() {
        InboundAliases aliases = new InboundAliases(10);
        assertThat(aliases.resolve(A, 0)).isSameAs(A);
        assertThat(aliases.resolve(A, 10)).isSameAs(A);
        assertThat(aliases.resolve(null, 10)).isSameAs(A);
        assertThat(aliases.resolve(B, 10)).isSameAs(B);
        assertThat(aliases.resolve(null, 10)).isSameAs(B);
        assertRefused(aliases, null, 1, ReasonCode.TOPIC_ALIAS_INVALID);
        assertRefused(aliases, A, 11, ReasonCode.TOPIC_ALIAS_INVALID);
        assertRefused(aliases, null, 0, ReasonCode.PROTOCOL_ERROR);
        assertRefused(InboundAliases.NONE, A, 1, ReasonCode.TOPIC_ALIAS_INVALID);
    }

    @Test
    void theBrokerGivesTheFirstTopicsAliasesThatTheyKeep() { // [MQTT-3.1.2-26]
        OutboundAliases aliases = new OutboundAliases(2);
        assertThat(aliases.aliasFor(A)).isEqualTo(1);
        assertThat(aliases.isNew()).isTrue();
        assertThat(aliases.aliasFor(A)).isEqualTo(1);
        assertThat(aliases.isNew()).isFalse();
        assertThat(aliases.aliasFor(B)).isEqualTo(2);
        assertThat(aliases.aliasFor(C)).isZero();
        assertThat(aliases.isNew()).isFalse();
        assertThat(aliases.aliasFor(TopicName.of("a/long/topic"))).isEqualTo(1);
        assertThat(aliases.isNew()).isFalse();
        assertThat(aliases.aliasFor(TopicName.of("short"))).isZero();
        assertThat(new OutboundAliases(0).aliasFor(A)).isZero();
    }
}
