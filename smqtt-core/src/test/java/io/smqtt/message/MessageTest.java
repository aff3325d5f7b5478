// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.smqtt.topic.TopicName;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class MessageTest {

    private static final long SECOND = 1_000_000_000L;

    private static ApplicationMessage mortal(long seconds, long acceptedNanos) {
        return ApplicationMessage.builder("t")
                .expiryInterval(Duration.ofSeconds(seconds))
                .build()
                .accepted(3, acceptedNanos, "p");
    }

    @Test
    void anIntervalOfZeroHasExpiredAtOnce() {
        ApplicationMessage message = mortal(0, 5);
        assertThat(message.isExpired(5)).isTrue();
        assertThat(message.remainingExpirySeconds(5)).isZero();
    }

    @Test
    void theLongestIntervalDoesNotOverflow() {
        long longest = 4_294_967_295L;
        long accepted = Long.MAX_VALUE - 3 * SECOND; // the clock wraps around on the way
        ApplicationMessage message = mortal(longest, accepted);
        assertThat(message.isExpired(accepted + 10 * SECOND)).isFalse();
        assertThat(message.remainingExpirySeconds(accepted + 10 * SECOND)).isEqualTo(longest - 10);
        assertThat(message.isExpired(accepted + longest * SECOND - 1)).isFalse();
        assertThat(message.isExpired(accepted + longest * SECOND)).isTrue();
    }

    @Test
    void aMessageInThePlaceOfAnotherOneHasItsIdentifierPublisherAndTime() {
        ApplicationMessage original = mortal(10, 5);
        assertThat(original.inPlaceOf(original)).isSameAs(original);
        ApplicationMessage changed =
                original.toBuilder().topic("u").payload("changed").build();
        assertThat(changed.inPlaceOf(original)).isSameAs(changed);
        assertThat(changed.id()).isEqualTo(3);
        ApplicationMessage again =
                changed.accepted(4, 5, "p").toBuilder().build().inPlaceOf(original);
        assertThat(again.id()).isEqualTo(3); // or a peer would take it for one that it has
        assertThat(again.publisherId()).isEqualTo("p");
        assertThat(again.acceptedAtNanos()).isEqualTo(5);
        assertThat(again.expiryIntervalSeconds()).isEqualTo(10);
        assertThat(again.topic()).hasToString("u");
        ApplicationMessage timed = original.timed(9);
        assertThat(timed.toBuilder().build().inPlaceOf(timed).isTimed()).isTrue();
        assertThat(ApplicationMessage.builder("t").build().inPlaceOf(timed).isTimed())
                .isTrue();
        ApplicationMessage kept = timed.toBuilder().retain(true).build();
        assertThat(kept.inPlaceOf(timed).isTimed()).isFalse(); // it would tell its age
    }

    @Test
    void countsDownByWholeSeconds() { // [MQTT-3.3.2-6]
        ApplicationMessage message = mortal(10, 0);
        assertThat(message.remainingExpirySeconds(SECOND - 1)).isEqualTo(10);
        assertThat(message.remainingExpirySeconds(SECOND)).isEqualTo(9);
        assertThat(message.isExpired(10 * SECOND - 1)).isFalse();
        assertThat(message.remainingExpirySeconds(20 * SECOND)).isZero();
    }

    @Test
    void withoutAnIntervalItNeverExpires() {
        ApplicationMessage message = ApplicationMessage.builder("t").build();
        assertThat(message.isExpired(Long.MAX_VALUE)).isFalse();
        assertThat(message.remainingExpirySeconds(Long.MAX_VALUE)).isEqualTo(ApplicationMessage.NEVER);
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 4_294_967_296L})
    void refusesAnIntervalOutOfRange(long seconds) {
        assertThatThrownBy(() -> mortal(seconds, 0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void acceptingKeepsEverythingElse() {
        ApplicationMessage built = ApplicationMessage.builder("a/b")
                .payload("text")
                .qos(QoS.EXACTLY_ONCE)
                .retain(true)
                .properties(PublishProperties.builder().contentType("x").build())
                .build();
        ApplicationMessage accepted = built.accepted(3, 7, "p");
        assertThat(accepted.topic()).isEqualTo(TopicName.of("a/b"));
        assertThat(accepted.payload().asString()).isEqualTo("text");
        assertThat(accepted.qos()).isEqualTo(QoS.EXACTLY_ONCE);
        assertThat(accepted.retain()).isTrue();
        assertThat(accepted.properties().contentType()).isEqualTo("x");
        assertThat(accepted.acceptedAtNanos()).isEqualTo(7);
        assertThat(accepted.publisherId()).isEqualTo("p");
        assertThat(accepted.footprintBytes()).isEqualTo(96 + 4 + 3 + 4);
        assertThat(accepted.toString()).contains("a/b").doesNotContain("text");
    }

    @Test
    void aUserPropertyTakesThePlaceOfAllOfItsName() {
        PublishProperties properties = PublishProperties.builder()
                .userProperty("a", "1")
                .contentType("text")
                .userProperty("b", "2")
                .userProperty("a", "3")
                .correlationData(new byte[] {7})
                .build();

        PublishProperties replaced = properties.withUserProperty("a", "new");
        assertThat(replaced)
                .isEqualTo(PublishProperties.builder()
                        .userProperty("a", "new")
                        .contentType("text")
                        .userProperty("b", "2")
                        .correlationData(new byte[] {7})
                        .build());
        assertThat(replaced.withUserProperty("c", "last").userProperties())
                .containsExactly(
                        new UserProperty("a", "new"), new UserProperty("b", "2"), new UserProperty("c", "last"));
        byte[] declaredBinary = {PropertyId.PAYLOAD_FORMAT_INDICATOR, 0};
        ByteBuf encoded = Unpooled.buffer();
        PublishProperties.ofEncoded(declaredBinary).withUserProperty("k", "v").writeTo(encoded);
        assertThat(encoded.readSlice(2)).isEqualTo(Unpooled.wrappedBuffer(declaredBinary));
        assertThat(encoded.readableBytes()).isEqualTo(1 + 2 + 1 + 2 + 1);
    }

    @Test
    void otherPropertiesLeaveTheRestOfAMessage() {
        ApplicationMessage message = ApplicationMessage.builder("a/b")
                .payload("text")
                .qos(QoS.AT_LEAST_ONCE)
                .retain(true)
                .expiryInterval(Duration.ofSeconds(9))
                .build()
                .accepted(3, 5, "p")
                .timed(6);
        PublishProperties other = PublishProperties.EMPTY.withUserProperty("k", "v");

        ApplicationMessage changed = message.withProperties(other);

        assertThat(changed.properties()).isEqualTo(other);
        assertThat(changed.footprintBytes()).isEqualTo(message.footprintBytes() + other.encodedBytes());
        assertThat(changed)
                .usingRecursiveComparison()
                .ignoringFields("properties", "footprintBytes")
                .isEqualTo(message);
    }

    @Test
    void propertiesComeBackInOrder() { // [MQTT-3.3.2-18]
        byte[] correlation = {0, 1, (byte) 0xFF};
        PublishProperties properties = PublishProperties.builder()
                .userProperty("a", "1")
                .payloadUtf8()
                .contentType("text/plain")
                .userProperty("a", "2")
                .responseTopic("reply/ü")
                .correlationData(correlation)
                .userProperty("b", "")
                .build();
        assertThat(properties.isPayloadUtf8()).isTrue();
        assertThat(properties.contentType()).isEqualTo("text/plain");
        assertThat(properties.responseTopic()).isEqualTo("reply/ü");
        assertThat(properties.correlationData()).containsExactly(correlation);
        assertThat(properties.userProperties())
                .containsExactly(new UserProperty("a", "1"), new UserProperty("a", "2"), new UserProperty("b", ""));
        ByteBuf encoded = Unpooled.buffer();
        properties.writeTo(encoded);
        assertThat(encoded.readableBytes()).isEqualTo(properties.encodedBytes());
        byte[] copy = new byte[encoded.readableBytes()];
        encoded.readBytes(copy);
        assertThat(PublishProperties.ofEncoded(copy)).isEqualTo(properties).hasSameHashCodeAs(properties);
    }

    @Test
    void whatIsNotThereIsNull() {
        PublishProperties properties =
                PublishProperties.builder().userProperty("a", "b").build();
        assertThat(properties.isPayloadUtf8()).isFalse();
        assertThat(properties.contentType()).isNull();
        assertThat(properties.responseTopic()).isNull();
        assertThat(properties.correlationData()).isNull();
        assertThat(PublishProperties.EMPTY.userProperties()).isEmpty();
        assertThat(PublishProperties.ofEncoded(new byte[0])).isSameAs(PublishProperties.EMPTY);
        assertThat(properties).isNotEqualTo(PublishProperties.EMPTY).isNotEqualTo("text");
        assertThat(properties.toString()).doesNotContain("a, b");
    }

    @Test
    void refusesAPropertyThatIsTooLong() {
        String tooLong = "x".repeat(65_536);
        PublishProperties.Builder builder = PublishProperties.builder();
        assertThatThrownBy(() -> builder.contentType(tooLong)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aPayloadIsACopy() {
        byte[] bytes = "abc".getBytes(StandardCharsets.UTF_8);
        Payload payload = Payload.of(bytes);
        bytes[0] = 'x';
        payload.toByteArray()[1] = 'x';
        assertThat(payload.asString()).isEqualTo("abc");
        assertThat(payload).isEqualTo(Payload.of("abc")).hasSameHashCodeAs(Payload.of("abc"));
        assertThat(payload).isNotEqualTo(Payload.EMPTY);
        assertThat(payload.asByteBuffer().isReadOnly()).isTrue();
        assertThat(payload.asByteBuffer().remaining()).isEqualTo(3);
        assertThat(payload.toString()).doesNotContain("abc");
        ByteBuf source = Unpooled.copiedBuffer("xxabcxx", StandardCharsets.UTF_8);
        assertThat(Payload.copyOf(source, 2, 3)).isEqualTo(payload);
        assertThat(Payload.copyOf(source, 2, 0)).isSameAs(Payload.EMPTY);
        assertThat(Payload.of("").isEmpty()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(ReasonCode.class)
    void reasonCodesAreFoundByTheirValue(ReasonCode code) {
        assertThat(ReasonCode.of(code.value())).isSameAs(code);
        assertThat(code.isError()).isEqualTo(code.value() >= 0x80);
    }

    @Test
    void reasonCodesAreDistinct() {
        Set<Integer> values = new HashSet<>();
        for (ReasonCode code : ReasonCode.values()) {
            assertThat(values.add(code.value())).isTrue();
        }
        assertThat(ReasonCode.of(0x03)).isNull();
        for (QoS qos : QoS.values()) {
            assertThat(ReasonCode.granted(qos).value()).isEqualTo(qos.level());
            assertThat(QoS.of(qos.level())).isSameAs(qos);
        }
        assertThat(ProtocolVersion.of("MQTT", 5)).isEqualTo(ProtocolVersion.MQTT_5);
        assertThat(ProtocolVersion.of("MQTT", 3)).isNull();
        assertThat(ProtocolVersion.of("MQIsdp", 3)).isEqualTo(ProtocolVersion.MQTT_3_1);
    }
}
