// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.ConsumerEndedException;
import io.smqtt.ConsumerOptions;
import io.smqtt.ConsumerOptions.RetainHandling;
import io.smqtt.ReceivedMessage;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.session.InProcess;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.test.StepVerifier;

/** A consumer in the process with a name: its messages wait for it, and come again until it has acknowledged them. */
@Timeout(120)
class DurableConsumerTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String ORDERS = InProcess.PREFIX + "orders";
    private static final ConsumerOptions DURABLE =
            ConsumerOptions.DEFAULTS.durable("orders").qos(QoS.EXACTLY_ONCE);

    private final DurableBroker broker = new DurableBroker();

    @AfterEach
    void close() {
        broker.close();
    }

    private static String text(ReceivedMessage received) {
        return received.message().payload().asString();
    }

    private void publish(String topic, String text, QoS qos) {
        broker.broker()
                .publish(
                        ApplicationMessage.builder(topic).payload(text).qos(qos).build())
                .block(PATIENCE);
    }

    /** Subscribes for a moment, so that the name has a subscription. */
    private void introduce(String filter) {
        Disposable consumer = broker.broker().receive(filter, DURABLE).subscribe();
        awaitSubscribed(filter);
        consumer.dispose();
        broker.awaitOffline(ORDERS);
    }

    private void awaitSubscribed(String... filters) {
        await().untilAsserted(
                        () -> assertThat(broker.store.subscriptions(ORDERS)).containsExactlyInAnyOrder(filters));
    }

    private List<String> take(int count, boolean acknowledge) {
        List<ReceivedMessage> taken = broker.broker()
                .receive("t", DURABLE)
                .doOnNext(received -> {
                    if (acknowledge) {
                        received.acknowledge();
                    }
                })
                .take(count)
                .collectList()
                .block(PATIENCE);
        broker.awaitOffline(ORDERS);
        return Objects.requireNonNull(taken).stream()
                .map(DurableConsumerTest::text)
                .toList();
    }

    private void again(boolean killed) {
        if (killed) {
            broker.kill();
        } else {
            broker.restart();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatCameWhileItWasAwayIsThereAfterARestartAndAfterAKill(boolean killed) {
        introduce("t");
        publish("t", "a", QoS.AT_LEAST_ONCE);
        publish("t", "b", QoS.EXACTLY_ONCE);
        again(killed);
        publish("t", "c", QoS.AT_LEAST_ONCE);
        assertThat(take(3, true)).containsExactly("a", "b", "c");
        await().until(() -> broker.store.messages(ORDERS).isEmpty());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatWasNotAcknowledgedComesAgain(boolean killed) {
        introduce("t");
        publish("t", "a", QoS.AT_LEAST_ONCE);
        publish("t", "b", QoS.AT_LEAST_ONCE);
        assertThat(take(2, false)).containsExactly("a", "b");
        again(killed);
        List<ReceivedMessage> second = new CopyOnWriteArrayList<>();
        Disposable consumer = broker.broker().receive("t", DURABLE).subscribe(second::add);
        await().until(() -> second.size() == 2);
        assertThat(second).extracting(DurableConsumerTest::text).containsExactly("a", "b");
        assertThat(second).allMatch(ReceivedMessage::isRedelivered);
        second.get(0).acknowledge();
        await().until(() -> broker.store.messages(ORDERS).size() == 1);
        consumer.dispose();
        broker.awaitOffline(ORDERS);
        second.get(1).acknowledge(); // of a consumer that is gone
        again(killed);
        assertThat(take(1, true)).containsExactly("b");
    }

    @ParameterizedTest
    @EnumSource(names = {"AT_LEAST_ONCE", "EXACTLY_ONCE"})
    void aPublisherIsAnsweredWhenTheMessageIsSafe(QoS qos) {
        introduce("t");
        RawClient publisher = broker.clean("p");
        broker.store.hold();
        publisher.send(PublishBytes.to("t").payload("a").qos(qos.level(), 1));
        broker.awaitPending();
        publisher.expectNothing();
        broker.store.release();
        publisher.expect(qos == QoS.AT_LEAST_ONCE ? MqttMessageType.PUBACK : MqttMessageType.PUBREC);
        assertThat(broker.store.messages(ORDERS)).hasSize(1);
    }

    @Test
    void aPublisherIsRefusedWhenTheMessageCannotBeKept() {
        introduce("t");
        broker.store.fail();
        StepVerifier.create(broker.broker()
                        .publish(ApplicationMessage.builder("t")
                                .payload("a")
                                .qos(QoS.AT_LEAST_ONCE)
                                .build()))
                .expectError()
                .verify(PATIENCE);
        broker.store.heal();
    }

    @Test
    void thereIsOneConsumerOfANameAtATime() {
        Disposable first = broker.broker().receive("t", DURABLE).subscribe();
        awaitSubscribed("t");
        StepVerifier.create(broker.broker().receive("t", DURABLE))
                .expectErrorMatches(error -> error instanceof IllegalStateException
                        && String.valueOf(error.getMessage()).contains("orders"))
                .verify(PATIENCE);
        first.dispose();
        Disposable second = broker.broker() // at once
                .receive("t", DURABLE)
                .subscribe();
        publish("t", "a", QoS.AT_LEAST_ONCE);
        await().until(() -> broker.store.messages(ORDERS).size() == 1);
        assertThat(second.isDisposed()).isFalse();
        second.dispose();
    }

    @Test
    void comesBackAtOnceAgainAndAgain() {
        introduce("t");
        IntStream.range(0, 50).forEach(i -> publish("t", "m" + i, QoS.AT_LEAST_ONCE));
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            broker.broker()
                    .receive("t", DURABLE)
                    .doOnNext(ReceivedMessage::acknowledge)
                    .map(DurableConsumerTest::text)
                    .take(1)
                    .doOnNext(texts::add)
                    .blockLast(PATIENCE);
        }
        assertThat(texts)
                .containsExactlyElementsOf(
                        IntStream.range(0, 50).mapToObj(i -> "m" + i).toList());
    }

    @Test
    void anotherFilterTakesThePlaceOfTheOneBefore() {
        introduce("t");
        publish("t", "old", QoS.AT_LEAST_ONCE);
        introduce("other/#");
        publish("t", "nobody's", QoS.AT_LEAST_ONCE);
        publish("other/1", "new", QoS.AT_LEAST_ONCE);
        List<String> texts = new CopyOnWriteArrayList<>();
        Disposable consumer = broker.broker()
                .subscribe("other/#", DURABLE)
                .map(message -> message.payload().asString())
                .subscribe(texts::add);
        await().untilAsserted(() -> assertThat(texts).containsExactly("old", "new"));
        consumer.dispose();
    }

    @Test
    void retainedMessagesComeOnceIfThatIsWanted() {
        broker.broker()
                .publish(ApplicationMessage.builder("t")
                        .payload("kept")
                        .qos(QoS.AT_LEAST_ONCE)
                        .retain(true)
                        .build())
                .block(PATIENCE);
        ConsumerOptions options = DURABLE.retainHandling(RetainHandling.SEND_IF_NEW);
        assertThat(broker.broker()
                        .subscribe("t", options)
                        .map(message -> message.payload().asString())
                        .blockFirst(PATIENCE))
                .isEqualTo("kept");
        broker.awaitOffline(ORDERS);
        publish("t", "next", QoS.AT_LEAST_ONCE);
        assertThat(broker.broker()
                        .subscribe("t", options)
                        .map(message -> message.payload().asString())
                        .blockFirst(PATIENCE))
                .isEqualTo("next");
    }

    @Test
    void aSubscriptionThatCannotBeStoredFails() {
        introduce("t");
        broker.store.fail();
        StepVerifier.create(broker.broker().receive("other", DURABLE))
                .expectErrorSatisfies(error ->
                        assertThat(((ConsumerEndedException) error).reason()).isEqualTo(ReasonCode.QUOTA_EXCEEDED))
                .verify(PATIENCE);
        broker.store.heal();
    }

    @Test
    void aNameCanBeForgotten() {
        introduce("t");
        publish("t", "a", QoS.AT_LEAST_ONCE);
        StepVerifier.create(broker.broker().receive("t", DURABLE))
                .expectNextCount(1)
                .then(() -> assertThat(broker.broker().removeConsumer("orders").block(PATIENCE))
                        .isTrue())
                .expectError(ConsumerEndedException.class)
                .verify(PATIENCE);
        await().until(() -> broker.store.session(ORDERS).isEmpty());
        assertThat(broker.broker().removeConsumer("orders").block(PATIENCE)).isFalse();
    }

    @Test
    void isNotForgottenIfTheStoreDoesNot() {
        introduce("t");
        broker.store.fail();
        StepVerifier.create(broker.broker().removeConsumer("orders"))
                .expectErrorSatisfies(error -> assertThat(error)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("orders"))
                .verify(PATIENCE);
    }

    @Tag("slow")
    @Test
    void waitsForEverUnlessToldOtherwise() {
        introduce("t");
        broker.advance(Duration.ofDays(1_000));
        publish("t", "a", QoS.AT_LEAST_ONCE);
        assertThat(take(1, true)).containsExactly("a");
        Disposable consumer = broker.broker()
                .receive("t", DURABLE.expiry(Duration.ofSeconds(10)))
                .subscribe();
        await().until(() -> broker.store.session(ORDERS).orElseThrow().expirySeconds() == 10);
        consumer.dispose();
        broker.awaitOffline(ORDERS);
        broker.letTimePassUntil(() -> broker.store.session(ORDERS).isEmpty());
    }
}
