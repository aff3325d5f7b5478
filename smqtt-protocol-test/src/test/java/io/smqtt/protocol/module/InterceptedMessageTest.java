// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol.module;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.spi.Interception;
import io.smqtt.spi.PublishInterceptor;
import io.smqtt.test.BrokerClock;
import io.smqtt.test.RawClient;
import io.smqtt.test.TestBroker;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

/** What becomes of messages that interceptors have changed: expiry, publisher, retained messages. */
@Timeout(60)
class InterceptedMessageTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final int MESSAGE_EXPIRY = 0x02;
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private static ApplicationMessage.Builder anew(ApplicationMessage message) {
        return ApplicationMessage.builder(message.topic().value())
                .payload(message.payload())
                .qos(message.qos())
                .retain(message.retain());
    }

    static Stream<UnaryOperator<ApplicationMessage>> withAnExpiryOfAMinute() {
        return Stream.of(
                message -> message.toBuilder().expiryInterval(MINUTE).build(),
                message -> anew(message).expiryInterval(MINUTE).build());
    }

    private static TestBroker broker(List<UnaryOperator<ApplicationMessage>> changes) {
        TestBroker.Builder builder = TestBroker.builder().clock(BrokerClock.standing());
        for (UnaryOperator<ApplicationMessage> change : changes) {
            PublishInterceptor interceptor =
                    (client, message) -> Mono.just(Interception.forward(change.apply(message)));
            builder.parts(parts -> parts.interceptor(interceptor));
        }
        return builder.start();
    }

    @ParameterizedTest
    @MethodSource("withAnExpiryOfAMinute")
    void anExpiryCountsFromWhenTheClientsMessageCame(UnaryOperator<ApplicationMessage> change) {
        try (TestBroker broker = broker(List.of(change))) {
            RawClient receiver = broker.client(V5, "receiver");
            receiver.subscribe("t", 1);
            RawClient publisher = broker.client(V5, "publisher");
            publisher.publish("t", "a", 1);
            assertThat(receiver.expectPublish("t", "a").number(MESSAGE_EXPIRY)).isEqualTo(60);
            publisher.publish("t", "b", 0);
            receiver.expectPublish("t", "b");
        }
    }

    @ParameterizedTest
    @MethodSource("withAnExpiryOfAMinute")
    void aRetainedMessageExpiresInItsTime(UnaryOperator<ApplicationMessage> change) {
        try (TestBroker broker = broker(List.of(change))) {
            broker.client(V5, "publisher")
                    .publish(PublishBytes.to("t").payload("kept").qos(1).retained());
            broker.clock().advance(Duration.ofSeconds(20));
            RawClient early = broker.client(V5, "early");
            early.subscribe("t", 1);
            assertThat(early.expectPublish("t", "kept").number(MESSAGE_EXPIRY)).isEqualTo(40);
            broker.clock().advance(Duration.ofSeconds(40));
            RawClient late = broker.client(V5, "late");
            late.subscribe("t", 1);
            late.expectNothing();
        }
    }

    @Test
    void aSecondInterceptorSeesWhatTheBrokerHasMadeOfTheFirstOnes() {
        try (TestBroker broker = broker(List.of(
                message -> anew(message).build(),
                message -> anew(message)
                        .payload(message.publisherId()
                                + ' '
                                + message.expiryIntervalSeconds()
                                + ' '
                                + message.remainingExpirySeconds(message.acceptedAtNanos()))
                        .build()))) {
            RawClient receiver = broker.client(V5, "receiver");
            receiver.subscribe("t", 1);
            PublishBytes message = PublishBytes.to("t").payload("a").qos(1);
            message.properties().messageExpiry(30);
            broker.client(V5, "publisher").publish(message);
            assertThat(receiver.expectPublish("t", "publisher 30 30").number(MESSAGE_EXPIRY))
                    .isEqualTo(30);
        }
    }

    @Test
    void anExpiryCanBeTakenAway() {
        try (TestBroker broker =
                broker(List.of(message -> anew(message).neverExpires().build()))) {
            RawClient receiver = broker.client(V5, "receiver");
            receiver.subscribe("t", 1);
            PublishBytes message = PublishBytes.to("t").payload("a").qos(1);
            message.properties().messageExpiry(30);
            broker.client(V5, "publisher").publish(message);
            assertThat(receiver.expectPublish("t", "a").property(MESSAGE_EXPIRY))
                    .isNull();
        }
    }

    @Test
    void noLocalHolds() { // [MQTT-3.8.3-3]
        try (TestBroker broker = broker(List.of(message -> anew(message).build()))) {
            RawClient client = broker.client(V5, "c");
            client.subscribe("t", SubscribeBytes.NO_LOCAL | 1);
            client.publish(PublishBytes.to("t").payload("own").qos(1).retained());
            client.expectNothing();
            client.subscribe("t", SubscribeBytes.NO_LOCAL | 1); // its retained message is its own, too
            client.expectNothing();
            broker.client(V5, "other").publish("t", "another's", 1);
            client.expectPublish("t", "another's");
        }
    }

    @Test
    void aMessageThatIsForwardedAgainAndAgainIsAnotherOneEachTime() {
        ApplicationMessage always = ApplicationMessage.builder("t")
                .payload("always")
                .qos(QoS.AT_LEAST_ONCE)
                .expiryInterval(MINUTE)
                .build();
        try (TestBroker broker = broker(List.of(message -> always))) {
            RawClient receiver = broker.client(V5, "receiver");
            receiver.subscribe("t", 1);
            RawClient publisher = broker.client(V5, "publisher");
            publisher.publish("t", "a", 1);
            assertThat(receiver.expectPublish("t", "always").number(MESSAGE_EXPIRY))
                    .isEqualTo(60);
            broker.clock().advance(Duration.ofMinutes(2));
            publisher.publish("t", "b", 1);
            assertThat(receiver.expectPublish("t", "always").number(MESSAGE_EXPIRY))
                    .isEqualTo(60);
        }
    }
}
