// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.DropPolicy;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.DropReason;
import io.smqtt.topic.TopicFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Delivery to one client, seen from the publisher's and from the client's side. */
class OutboundFlowTest {

    private SessionBench bench = new SessionBench(1);
    private RecordingSink sink = new RecordingSink();

    private Session connect() {
        return bench.open("c", 0, false, 1_000, sink);
    }

    private Session reconnect() {
        sink = new RecordingSink();
        return connect();
    }

    private void disconnect(Session session) {
        session.connectionEnded(sink, false, -1);
    }

    private void use(LimitsConfig limits, SessionConfig config) {
        bench = new SessionBench(1, limits, config);
    }

    private void publish(int from, int to, QoS qos) {
        for (int i = from; i < to; i++) {
            bench.publish(0, "t", String.valueOf(i), qos);
        }
    }

    @Test
    void sendsNoMoreThanTheClientAllowsAndKeepsTheOrder() { // [MQTT-3.3.4-9]
        sink.sendMaximum = 2;
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);

        publish(0, 6, QoS.AT_LEAST_ONCE);
        assertThat(sink.texts()).containsExactly("0", "1");
        assertThat(session.queuedCount()).isEqualTo(4);

        for (int acknowledged = 0; acknowledged < 6; acknowledged++) {
            assertThat(session.onPubAck(sink.sent.get(acknowledged).packetId(), ReasonCode.SUCCESS))
                    .isEqualTo(AcknowledgementOutcome.EXPECTED);
            assertThat(session.inFlightCount()).isLessThanOrEqualTo(2);
        }
        assertThat(sink.texts()).containsExactly("0", "1", "2", "3", "4", "5");
        assertThat(session.inFlightCount()).isZero();
        assertThat(bench.budget.bytes()).isZero();
    }

    @Test
    void doesNotExceedTheWindowWhenWritingCallsBack() { // [MQTT-3.3.4-9]
        sink.sendMaximum = 3;
        sink.writable = false;
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.AT_LEAST_ONCE);
        publish(0, 10, QoS.AT_LEAST_ONCE);
        sink.onWrite = session::start; // a write that empties the socket makes the channel writable at once
        sink.writable = true;

        session.start();

        assertThat(sink.texts()).containsExactly("0", "1", "2");
        session.onPubAck(sink.sent.get(0).packetId(), ReasonCode.SUCCESS);
        assertThat(sink.texts()).containsExactly("0", "1", "2", "3");
    }

    @Test
    void goesThroughTheHandshakeOfQos2() {
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);
        publish(0, 1, QoS.EXACTLY_ONCE);
        int packetId = sink.lastPacketId();

        assertThat(session.onPubAck(packetId, ReasonCode.SUCCESS)).isEqualTo(AcknowledgementOutcome.WRONG_STEP);
        assertThat(session.onPubComp(packetId)).isEqualTo(AcknowledgementOutcome.WRONG_STEP);
        assertThat(session.onPubRec(packetId, ReasonCode.SUCCESS)).isEqualTo(AcknowledgementOutcome.EXPECTED);
        assertThat(session.onPubRec(packetId, ReasonCode.SUCCESS))
                .isEqualTo(AcknowledgementOutcome.EXPECTED); // again: PUBREL again
        assertThat(sink.released).containsExactly(packetId, packetId);
        assertThat(session.onPubComp(packetId)).isEqualTo(AcknowledgementOutcome.EXPECTED);
        assertThat(session.onPubComp(packetId)).isEqualTo(AcknowledgementOutcome.UNKNOWN);
        assertThat(session.inFlightCount()).isZero();
        assertThat(bench.observer.abandoned).isEmpty();
    }

    @Test
    void endsAMessageThatTheClientRefuses() { // [MQTT-4.3.3-4]
        sink.sendMaximum = 1;
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);
        publish(0, 2, QoS.EXACTLY_ONCE);

        session.onPubRec(sink.lastPacketId(), ReasonCode.QUOTA_EXCEEDED);

        assertThat(sink.released).isEmpty();
        assertThat(sink.texts()).containsExactly("0", "1");
        assertThat(bench.observer.abandoned).isEqualTo(Map.of(DropReason.REFUSED_BY_CLIENT, 1));
        bench.publish(0, "t", "2", QoS.AT_LEAST_ONCE);
        session.onPubRec(sink.lastPacketId(), ReasonCode.UNSPECIFIED_ERROR);
        session.onPubAck(sink.lastPacketId(), ReasonCode.UNSPECIFIED_ERROR);
        assertThat(bench.observer.abandoned).isEqualTo(Map.of(DropReason.REFUSED_BY_CLIENT, 3));
        assertThat(bench.observer.delivered.sum()).isEqualTo(3);
    }

    @Test
    void resendsInOrderWithDupOnlyAfterReconnecting() { // [MQTT-4.4.0-1] [MQTT-4.6.0-1]
        sink.sendMaximum = 3;
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);
        publish(0, 1, QoS.AT_LEAST_ONCE);
        publish(1, 2, QoS.EXACTLY_ONCE);
        publish(2, 5, QoS.AT_LEAST_ONCE);
        int first = sink.sent.get(0).packetId();
        int second = sink.sent.get(1).packetId();
        session.onPubRec(second, ReasonCode.SUCCESS);
        disconnect(session);
        publish(5, 6, QoS.AT_LEAST_ONCE);

        sink = new RecordingSink();
        sink.sendMaximum = 2;
        session = connect();

        assertThat(sink.sent).containsExactly(new RecordingSink.Sent("0", QoS.AT_LEAST_ONCE, false, first, true));
        assertThat(sink.released).containsExactly(second);
        session.onPubComp(second);
        assertThat(sink.texts()).containsExactly("0", "2");
        assertThat(sink.sent.get(1).duplicate()).isTrue();
        session.onPubAck(first, ReasonCode.SUCCESS);
        session.onPubAck(sink.sent.get(1).packetId(), ReasonCode.SUCCESS);
        assertThat(sink.texts()).containsExactly("0", "2", "3", "4");
        assertThat(sink.sent.get(2).duplicate()).isFalse();
        session.onPubAck(sink.sent.get(2).packetId(), ReasonCode.SUCCESS);
        assertThat(sink.texts()).endsWith("5");
        assertThat(bench.observer.delivered.sum()).isEqualTo(6); // what was sent again was delivered once
        assertThat(bench.observer.matched.sum()).isEqualTo(6);
    }

    @Test
    void takesAcknowledgementsOfMessagesThatWereNotSentAgainYet() {
        sink.sendMaximum = 3;
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.AT_LEAST_ONCE);
        publish(0, 3, QoS.AT_LEAST_ONCE);
        int third = sink.lastPacketId();
        disconnect(session);
        sink = new RecordingSink();
        sink.sendMaximum = 1;
        session = connect();

        assertThat(session.onPubAck(third, ReasonCode.SUCCESS)).isEqualTo(AcknowledgementOutcome.EXPECTED);
        assertThat(sink.texts()).containsExactly("0");
        session.onPubAck(sink.lastPacketId(), ReasonCode.SUCCESS);
        session.onPubAck(sink.lastPacketId(), ReasonCode.SUCCESS);

        assertThat(sink.texts()).containsExactly("0", "1");
        assertThat(session.inFlightCount()).isZero();
    }

    @Test
    void aMessageThatIsNeverAcknowledgedTakesOnePlaceOfTheWindowAndNoMore() { // [MQTT-2.2.1-4] [MQTT-4.6.0-1]
        sink.sendMaximum = 3;
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);
        publish(0, 1, QoS.EXACTLY_ONCE);
        publish(1, 2, QoS.AT_LEAST_ONCE);
        int first = sink.sent.get(0).packetId();
        int second = sink.sent.get(1).packetId();
        sink.sent.clear();
        for (int i = 2; i < 140_000; i++) { // twice around
            publish(i, i + 1, QoS.AT_LEAST_ONCE);
            assertThat(sink.sent).hasSize(1);
            int packetId = sink.lastPacketId();
            assertThat(packetId).isNotEqualTo(first).isNotEqualTo(second);
            assertThat(session.onPubAck(packetId, ReasonCode.SUCCESS)).isEqualTo(AcknowledgementOutcome.EXPECTED);
            sink.sent.clear();
        }
        publish(140_000, 140_002, QoS.AT_LEAST_ONCE);
        assertThat(sink.texts()).containsExactly("140000");
        int last = sink.lastPacketId();
        disconnect(session);

        sink = new RecordingSink();
        sink.sendMaximum = 3;
        session = connect();

        assertThat(sink.sent)
                .containsExactly(
                        new RecordingSink.Sent("0", QoS.EXACTLY_ONCE, false, first, true),
                        new RecordingSink.Sent("1", QoS.AT_LEAST_ONCE, false, second, true),
                        new RecordingSink.Sent("140000", QoS.AT_LEAST_ONCE, false, last, true));
        assertThat(session.onPubRec(first, ReasonCode.SUCCESS)).isEqualTo(AcknowledgementOutcome.EXPECTED);
        assertThat(session.onPubComp(first)).isEqualTo(AcknowledgementOutcome.EXPECTED);
        assertThat(sink.texts()).endsWith("140001");
        assertThat(session.onPubAck(second, ReasonCode.SUCCESS)).isEqualTo(AcknowledgementOutcome.EXPECTED);
        assertThat(session.onPubAck(last, ReasonCode.SUCCESS)).isEqualTo(AcknowledgementOutcome.EXPECTED);
        assertThat(session.inFlightCount()).isEqualTo(1);
        assertThat(bench.observer.cameAbout()).isEqualTo(bench.observer.ended());
    }

    @Test
    void dropsTheNewestOrTheOldestAsConfigured() {
        LimitsConfig limits = LimitsConfig.builder().maxQueuedMessages(3).build();
        for (DropPolicy policy : DropPolicy.values()) {
            use(limits, SessionConfig.builder().dropPolicy(policy).build());
            sink = new RecordingSink();
            Session session = connect();
            SessionBench.subscribe(session, "t", QoS.AT_LEAST_ONCE);
            disconnect(session);
            publish(0, 5, QoS.AT_LEAST_ONCE);
            assertThat(bench.observer.dropped).isEqualTo(Map.of(DropReason.QUEUE_COUNT, 2));

            reconnect();

            assertThat(sink.texts())
                    .containsExactly(
                            policy == DropPolicy.OLDEST ? new String[] {"2", "3", "4"} : new String[] {"0", "1", "2"});
            assertThat(bench.observer.cameAbout()).isEqualTo(bench.observer.ended());
        }
    }

    @Test
    void aMessageLargerThanTheQueueEmptiesItForNobody() {
        use(
                LimitsConfig.builder().maxQueuedBytes(1_000).build(),
                SessionConfig.builder().dropPolicy(DropPolicy.OLDEST).build());
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.AT_LEAST_ONCE);
        disconnect(session);
        publish(0, 3, QoS.AT_LEAST_ONCE);

        bench.publish(0, "t", "x".repeat(1_000), QoS.AT_LEAST_ONCE);

        assertThat(session.queuedCount()).isEqualTo(3);
        assertThat(bench.observer.dropped).isEqualTo(Map.of(DropReason.QUEUE_BYTES, 1));
    }

    @Test
    void whenAllQueuesAreFullNothingMoreIsQueuedAndWhatWaitsStays() {
        use(
                LimitsConfig.defaults(),
                SessionConfig.builder().dropPolicy(DropPolicy.OLDEST).build());
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.AT_LEAST_ONCE);
        disconnect(session);
        publish(0, 3, QoS.AT_LEAST_ONCE);

        fillAllQueues();
        publish(3, 5, QoS.AT_LEAST_ONCE);

        assertThat(session.queuedCount()).isEqualTo(3);
        assertThat(bench.observer.dropped).isEqualTo(Map.of(DropReason.TOTAL_QUEUE_BYTES, 2));
        bench.budget.add(-2L << 20);
        bench.budget.look();
        publish(5, 6, QoS.AT_LEAST_ONCE);
        assertThat(session.queuedCount()).isEqualTo(4);
    }

    @Test
    void whenAllQueuesAreFullAClientThatAcknowledgesGoesOnReceiving() {
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.AT_LEAST_ONCE);
        fillAllQueues();
        String text = "x".repeat((int) InFlightWindow.STEP_BYTES);

        for (int i = 0; i < 3; i++) {
            bench.publish(0, "t", text, QoS.AT_LEAST_ONCE);
            bench.publish(
                    0, "t", text, QoS.AT_LEAST_ONCE); // the window has room only when the one before is acknowledged
            session.onPubAck(sink.lastPacketId(), ReasonCode.SUCCESS);
        }

        assertThat(sink.sent).hasSize(3);
        assertThat(session.inFlightCount()).isZero();
        assertThat(session.queuedCount()).isZero();
        assertThat(bench.observer.dropped).isEqualTo(Map.of(DropReason.TOTAL_QUEUE_BYTES, 3));
    }

    private void fillAllQueues() {
        bench.budget.add(2L << 20);
        bench.budget.look();
        assertThat(bench.budget.isExhausted()).isTrue();
    }

    @Test
    void expiredMessagesMakeRoomFirstAndAreNotSent() { // [MQTT-3.3.2-5]
        use(LimitsConfig.builder().maxQueuedMessages(2).build(), SessionConfig.defaults());
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.AT_LEAST_ONCE);
        disconnect(session);
        for (String text : new String[] {"a", "b"}) {
            ApplicationMessage mortal = ApplicationMessage.builder("t")
                    .payload(text)
                    .qos(QoS.AT_LEAST_ONCE)
                    .expiryInterval(Duration.ofSeconds(text.equals("a") ? 5 : 10))
                    .build()
                    .accepted(bench.ids.next(), bench.nanos, null);
            bench.router.route(bench.loop(0), mortal, io.smqtt.routing.RouteTicket.NONE);
        }
        bench.pass(Duration.ofSeconds(6));
        publish(0, 1, QoS.AT_LEAST_ONCE); // takes the place of a
        bench.pass(Duration.ofSeconds(6));

        reconnect();

        assertThat(sink.texts()).containsExactly("0");
        assertThat(bench.observer.dropped).isEqualTo(Map.of(DropReason.EXPIRED, 2));
        assertThat(bench.observer.cameAbout()).isEqualTo(bench.observer.ended());
    }

    @Test
    void whatWasSentIsNotSentAgainOnceItHasExpiredExceptAtQos2() { // [MQTT-4.3.3-7]
        use(LimitsConfig.builder().maxQueuedMessages(2).build(), SessionConfig.defaults());
        sink.sendMaximum = 3;
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);
        route("one", QoS.AT_LEAST_ONCE, Duration.ofSeconds(5));
        route("two", QoS.EXACTLY_ONCE, Duration.ofSeconds(5));
        route("three", QoS.AT_LEAST_ONCE, Duration.ofSeconds(20));
        route("unsent", QoS.AT_LEAST_ONCE, Duration.ofSeconds(5));
        route("last", QoS.AT_LEAST_ONCE, Duration.ofSeconds(20));
        int one = sink.sent.get(0).packetId();
        int two = sink.sent.get(1).packetId();
        int three = sink.sent.get(2).packetId();
        disconnect(session);
        bench.pass(Duration.ofSeconds(6));

        session = reconnect();

        assertThat(sink.sent)
                .startsWith(
                        new RecordingSink.Sent("two", QoS.EXACTLY_ONCE, false, two, true),
                        new RecordingSink.Sent("three", QoS.AT_LEAST_ONCE, false, three, true));
        assertThat(sink.texts()).containsExactly("two", "three", "last");
        assertThat(session.inFlightCount()).isEqualTo(3);
        assertThat(session.onPubAck(one, ReasonCode.SUCCESS))
                .isEqualTo(AcknowledgementOutcome.UNKNOWN); // its identifier is free
        assertThat(bench.observer.abandoned).isEqualTo(Map.of(DropReason.EXPIRED, 1));
        assertThat(bench.observer.dropped).isEqualTo(Map.of(DropReason.EXPIRED, 1));
        assertThat(bench.observer.cameAbout()).isEqualTo(bench.observer.ended());
    }

    private void route(String text, QoS qos, Duration expiry) {
        ApplicationMessage message = ApplicationMessage.builder("t")
                .payload(text)
                .qos(qos)
                .expiryInterval(expiry)
                .build()
                .accepted(bench.ids.next(), bench.nanos, null);
        bench.router.route(bench.loop(0), message, io.smqtt.routing.RouteTicket.NONE);
    }

    @Test
    void qos0NeitherWaitsForASlowClientNorForAnAbsentOne() {
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);
        sink.writable = false;
        publish(0, 1, QoS.AT_MOST_ONCE);
        disconnect(session);
        publish(1, 2, QoS.AT_MOST_ONCE);

        reconnect();

        assertThat(sink.sent).isEmpty();
        assertThat(bench.observer.dropped).isEqualTo(Map.of(DropReason.SLOW_CONSUMER, 1, DropReason.OFFLINE, 1));
    }

    @Test
    void qos0KeepsItsOrderBehindWhatWasQueued() { // [MQTT-4.6.0-6]
        use(LimitsConfig.defaults(), SessionConfig.builder().queueQos0(true).build());
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.AT_MOST_ONCE);
        disconnect(session);
        publish(0, 3, QoS.AT_MOST_ONCE);
        sink = new RecordingSink();
        sink.writable = false;
        session = connect();
        publish(3, 5, QoS.AT_MOST_ONCE);

        sink.writable = true;
        session.start();
        publish(5, 6, QoS.AT_MOST_ONCE);

        assertThat(sink.texts()).containsExactly("0", "1", "2", "3", "4", "5");
    }

    @Test
    void aPacketTooLargeForTheClientIsDroppedAndCounted() { // [MQTT-3.1.2-24] [MQTT-3.1.2-25]
        sink.largestPayload = 1;
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.AT_LEAST_ONCE);
        bench.publish(0, "t", "xx", QoS.AT_LEAST_ONCE);
        bench.publish(0, "t", "xx", QoS.AT_MOST_ONCE);
        publish(0, 1, QoS.AT_LEAST_ONCE);
        assertThat(bench.observer.dropped).isEqualTo(Map.of(DropReason.PACKET_TOO_LARGE, 2));
        assertThat(session.inFlightCount()).isEqualTo(1);
        disconnect(session);

        sink = new RecordingSink();
        sink.largestPayload = 0;
        session = connect();

        assertThat(session.inFlightCount()).isZero();
        assertThat(bench.observer.abandoned).isEqualTo(Map.of(DropReason.PACKET_TOO_LARGE, 1));
        assertThat(bench.observer.cameAbout()).isEqualTo(bench.observer.ended());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void thePublisherLearnsThatAPacketIsTooLarge(boolean stored) { // [MQTT-3.1.2-25]
        FoundStore store = new FoundStore();
        bench = new SessionBench(1, LimitsConfig.defaults(), SessionConfig.defaults(), stored ? store : null);
        bench.registry.recover();
        sink.largestPayload = 1;
        SessionBench.Outcome outcome = bench.request("c", 0, false, 1_000, sink);
        bench.run();
        store.commit();
        bench.run();
        Session session = Objects.requireNonNull(outcome.session);
        Subscription subscription = SessionBench.subscribe(session, "t", QoS.AT_LEAST_ONCE);
        List<DropReason> told = new ArrayList<>();
        RouteTicket ticket = new RouteTicket() {
            @Override
            public void hold() {}

            @Override
            public void release(boolean success) {}

            @Override
            public void dropped(DropReason reason) {
                told.add(reason);
            }
        };

        session.deliver(bench.message("t", "xx", QoS.AT_LEAST_ONCE), subscription, ticket);

        assertThat(session.isStored()).isEqualTo(stored);
        assertThat(told).containsExactly(DropReason.PACKET_TOO_LARGE);
        assertThat(session.inFlightCount()).isZero();
        assertThat(bench.budget.bytes()).isZero();
    }

    @Test
    void eachDeliveryIsCheckedAlsoWhenItWasQueuedOrIsSentAgain() {
        bench.rules.checksDeliveries = true;
        Session session = connect();
        SessionBench.subscribe(session, "#", QoS.AT_LEAST_ONCE);
        publish(0, 1, QoS.AT_LEAST_ONCE);
        disconnect(session);
        publish(1, 2, QoS.AT_LEAST_ONCE);
        bench.rules.denied = Set.of("RECEIVE t");
        bench.rules.generation++;

        reconnect();
        publish(2, 3, QoS.AT_LEAST_ONCE);
        bench.publish(0, "u", "allowed", QoS.AT_LEAST_ONCE);

        assertThat(sink.texts()).containsExactly("allowed");
        assertThat(bench.observer.dropped).isEqualTo(Map.of(DropReason.NOT_AUTHORIZED, 2));
        assertThat(bench.observer.abandoned).isEqualTo(Map.of(DropReason.NOT_AUTHORIZED, 1));
    }

    @Test
    void anAnswerThatIsNotAtHandDeniesTheDelivery() {
        bench.rules.checksDeliveries = true;
        Session session = connect();
        SessionBench.subscribe(session, "#", QoS.AT_LEAST_ONCE);
        bench.rules.late = true;

        publish(0, 1, QoS.AT_MOST_ONCE);
        publish(1, 2, QoS.AT_LEAST_ONCE);

        assertThat(sink.sent).isEmpty();
        assertThat(bench.observer.dropped).isEqualTo(Map.of(DropReason.NOT_AUTHORIZED, 2));
        assertThat(bench.observer.cameAbout()).isEqualTo(bench.observer.ended());
    }

    @Test
    void whatMayNotBeSentAgainAtQos2IsReleasedWithinTheWindow() { // [MQTT-4.3.3-6] [MQTT-3.3.4-9]
        bench.rules.checksDeliveries = true;
        Session session = connect();
        SessionBench.subscribe(session, "#", QoS.EXACTLY_ONCE);
        publish(0, 3, QoS.EXACTLY_ONCE);
        bench.publish(0, "u", "allowed", QoS.EXACTLY_ONCE);
        List<Integer> ids = sink.sent.stream().map(RecordingSink.Sent::packetId).toList();
        session.onPubRec(ids.get(1), ReasonCode.SUCCESS);
        disconnect(session);
        bench.rules.denied = Set.of("RECEIVE t");

        sink = new RecordingSink();
        sink.sendMaximum = 2;
        session = connect();

        assertThat(sink.released).containsExactly(ids.get(0), ids.get(1));
        assertThat(sink.sent).isEmpty();
        assertThat(session.onPubComp(ids.get(0))).isEqualTo(AcknowledgementOutcome.EXPECTED);
        assertThat(sink.released).containsExactlyElementsOf(ids.subList(0, 3));
        assertThat(session.onPubComp(ids.get(1))).isEqualTo(AcknowledgementOutcome.EXPECTED);
        assertThat(sink.texts()).containsExactly("allowed");
        disconnect(session);
        bench.rules.denied = Set.of();
        reconnect();

        assertThat(sink.released).containsExactly(ids.get(2)); // the right is back, the message is not
        assertThat(sink.texts()).containsExactly("allowed");
        assertThat(session.onPubComp(ids.get(2))).isEqualTo(AcknowledgementOutcome.EXPECTED);
        assertThat(session.inFlightCount()).isEqualTo(1);
        assertThat(bench.observer.abandoned).isEqualTo(Map.of(DropReason.NOT_AUTHORIZED, 2));
        assertThat(bench.observer.dropped).isEmpty();
        assertThat(bench.observer.cameAbout()).isEqualTo(bench.observer.ended());
    }

    @Test
    void whatHasBecomeTooLargeAtQos2IsReleased() { // [MQTT-3.1.2-25] [MQTT-4.3.3-6]
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);
        bench.publish(0, "t", "large", QoS.EXACTLY_ONCE);
        int packetId = sink.lastPacketId();
        disconnect(session);
        sink = new RecordingSink();
        sink.largestPayload = 1;
        session = connect();

        assertThat(sink.sent).isEmpty();
        assertThat(sink.released).containsExactly(packetId);
        assertThat(session.onPubRec(packetId, ReasonCode.PACKET_IDENTIFIER_NOT_FOUND))
                .isEqualTo(AcknowledgementOutcome.EXPECTED);
        assertThat(session.inFlightCount()).isZero();
        assertThat(bench.observer.abandoned).isEqualTo(Map.of(DropReason.PACKET_TOO_LARGE, 1));
    }

    private Subscription subscribeRetained(Session session, String filter) {
        Subscription subscription = SessionBench.subscribe(session, filter, QoS.AT_LEAST_ONCE);
        session.deliverRetained(bench.router.retained().cursor(subscription.filter()), subscription);
        return subscription;
    }

    private void retain(int count) {
        for (int i = 0; i < count; i++) {
            bench.router.retain(ApplicationMessage.builder("r/" + i)
                    .payload(String.valueOf(i))
                    .qos(QoS.AT_LEAST_ONCE)
                    .retain(true)
                    .build()
                    .accepted(bench.ids.next(), bench.nanos, null));
        }
    }

    @Test
    void retainedMessagesAreSentAsTheWindowAllowsAndSurviveTheConnection() {
        retain(9);
        sink.sendMaximum = 2;
        Session session = connect();
        subscribeRetained(session, "r/+");
        assertThat(sink.texts()).containsExactly("0", "1");
        session.onPubAck(sink.sent.get(0).packetId(), ReasonCode.SUCCESS);
        assertThat(sink.texts()).containsExactly("0", "1", "2");
        disconnect(session);

        sink = new RecordingSink();
        connect();

        assertThat(sink.texts()).containsExactly("1", "2", "3", "4", "5", "6", "7", "8");
        assertThat(bench.observer.retained.sum()).isEqualTo(9);
        assertThat(bench.observer.cameAbout()).isEqualTo(bench.observer.ended());
    }

    @Test
    void retainedMessagesStopWithTheirSubscription() { // [MQTT-3.10.4-3]
        retain(5);
        sink.sendMaximum = 1;
        Session session = connect();
        Subscription subscription = subscribeRetained(session, "r/+");

        session.subscriptions().unsubscribe(subscription.filter(), null);
        session.onPubAck(sink.lastPacketId(), ReasonCode.SUCCESS);

        assertThat(sink.texts()).containsExactly("0");
    }

    @Test
    void aLongSearchForRetainedMessagesLetsOthersIn() {
        for (int i = 0; i < 990; i++) {
            bench.router.retain(ApplicationMessage.builder("a/" + i + "/b/" + i)
                    .payload("x")
                    .retain(true)
                    .build()
                    .accepted(bench.ids.next(), bench.nanos, null));
        }
        retain(1);
        Session session = connect();
        Subscription subscription = subscribeRetained(session, "+/+/c/#");
        session.deliverRetained(bench.router.retained().cursor(subscription.filter()), subscription);
        subscribeRetained(session, "r/#");
        int offered = bench.executors.get(0).offered;
        session.start();
        assertThat(bench.executors.get(0).offered - offered).isLessThanOrEqualTo(1);

        bench.run();

        assertThat(sink.texts()).containsExactly("0");
    }

    @Test
    void retainedMessagesThatMayNotBeReceivedLetOthersInToo() {
        Set<String> denied = new HashSet<>();
        for (int i = 0; i < 900; i++) {
            String topic = String.format("r/%03d", i);
            bench.router.retain(ApplicationMessage.builder(topic)
                    .payload(topic)
                    .retain(true)
                    .build()
                    .accepted(bench.ids.next(), bench.nanos, null));
            denied.add("RECEIVE " + topic);
        }
        denied.remove("RECEIVE r/899");
        bench.rules.checksDeliveries = true;
        bench.rules.denied = denied;
        Session session = connect();

        int asked = bench.rules.asked;
        subscribeRetained(session, "r/#");
        subscribeRetained(session, "r/+");
        subscribeRetained(session, "+/+");
        assertThat(bench.rules.asked - asked).isLessThanOrEqualTo(1_000);
        bench.run();

        assertThat(sink.texts()).containsExactly("r/899", "r/899", "r/899");
    }

    @Test
    void searchesOfManySubscriptionsLetOthersInToo() {
        for (int i = 0; i < 600; i++) {
            bench.router.retain(ApplicationMessage.builder("a/" + i + "/b/" + i)
                    .payload("x")
                    .retain(true)
                    .build()
                    .accepted(bench.ids.next(), bench.nanos, null));
        }
        retain(1);
        Session session = connect();

        for (int i = 0; i < 10; i++) {
            subscribeRetained(session, "a/+/c/" + i);
        }
        subscribeRetained(session, "r/#");
        assertThat(sink.sent).isEmpty();
        bench.run();

        assertThat(sink.texts()).containsExactly("0");
    }

    @Test
    void aClientsOwnRetainedMessageStaysAwayFromItsNoLocalSubscription() { // [MQTT-3.8.3-3]
        for (String publisher : List.of("c", "other")) {
            bench.router.retain(ApplicationMessage.builder("r/" + publisher)
                    .payload(publisher)
                    .retain(true)
                    .build()
                    .accepted(bench.ids.next(), bench.nanos, publisher));
        }
        Session session = connect();
        Subscription subscription =
                new Subscription(session, TopicFilter.of("r/#"), null, QoS.AT_LEAST_ONCE, true, true, 0);
        session.subscriptions().subscribe(subscription);

        session.deliverRetained(bench.router.retained().cursor(subscription.filter()), subscription);

        assertThat(sink.texts()).containsExactly("other");
        assertThat(bench.observer.cameAbout()).isEqualTo(bench.observer.ended());
    }

    @Test
    void nothingIsLostSilentlyWhenTheSessionEnds() {
        sink.sendMaximum = 2;
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);
        publish(0, 5, QoS.EXACTLY_ONCE);
        session.onPubRec(sink.sent.get(0).packetId(), ReasonCode.SUCCESS);

        session.connectionEnded(sink, false, 0);

        assertThat(bench.observer.dropped).isEqualTo(Map.of(DropReason.SESSION_ENDED, 3));
        assertThat(bench.observer.abandoned).isEqualTo(Map.of(DropReason.SESSION_ENDED, 1));
        assertThat(bench.observer.cameAbout()).isEqualTo(bench.observer.ended());
        assertThat(bench.budget.bytes()).isZero();
    }

    @Test
    void aLeavingMemberHandsItsShareToTheOthers() { // [MQTT-4.8.2-4] [MQTT-4.8.2-5]
        Session session = connect();
        SessionBench.subscribe(session, "$share/g/t", QoS.EXACTLY_ONCE);
        publish(0, 3, QoS.AT_LEAST_ONCE);
        publish(3, 4, QoS.EXACTLY_ONCE);
        RecordingSink otherSink = new RecordingSink();
        Session other = bench.open("other", 0, false, 1_000, otherSink);
        SessionBench.subscribe(other, "$share/g/t", QoS.EXACTLY_ONCE);

        disconnect(session);
        bench.run();

        assertThat(otherSink.texts()).containsExactly("0", "1", "2");
        assertThat(otherSink.sent).noneMatch(RecordingSink.Sent::duplicate);
        assertThat(session.inFlightCount()).isEqualTo(1); // QoS 2 stays
        assertThat(bench.observer.cameAbout()).isEqualTo(bench.observer.ended()).isEqualTo(7);
    }

    @Test
    void withoutAnotherMemberTheShareStays() {
        Session session = connect();
        SessionBench.subscribe(session, "$share/g/t", QoS.AT_LEAST_ONCE);
        publish(0, 2, QoS.AT_LEAST_ONCE);
        disconnect(session);
        publish(2, 4, QoS.AT_LEAST_ONCE);
        publish(4, 5, QoS.AT_MOST_ONCE);
        bench.run();
        assertThat(session.queuedCount()).isZero();
        assertThat(bench.registry.queuedForGroups()).isEqualTo(2);
        assertThat(bench.observer.dropped).isEqualTo(Map.of(DropReason.NO_SHARED_MEMBER, 1));

        reconnect();
        bench.run();

        assertThat(sink.texts()).containsExactly("0", "1", "2", "3");
    }
}
