// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RouteTicket;
import io.smqtt.spi.DropReason;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Deliveries that pause because the client refuses messages for the time being. */
class DeliveryPauseTest {

    private static final int WINDOW = 3;

    private static final Duration EXPIRY = Duration.ofSeconds(5);

    private SessionBench bench = new SessionBench(1);
    private RecordingSink sink = new RecordingSink();

    private Session connect() {
        sink = new RecordingSink();
        sink.sendMaximum = WINDOW;
        return bench.open("c", 0, false, 1_000, sink);
    }

    private void publish(int from, int to, QoS qos) {
        for (int i = from; i < to; i++) {
            bench.publish(0, "t", String.valueOf(i), qos);
        }
    }

    private int id(int number) {
        return sink.sent.get(number).packetId();
    }

    private static void accept(Session session, int packetId, QoS qos) {
        if (qos == QoS.AT_LEAST_ONCE) {
            session.onPubAck(packetId, ReasonCode.SUCCESS);
        } else {
            session.onPubRec(packetId, ReasonCode.SUCCESS);
            session.onPubComp(packetId);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = QoS.class,
            names = {"AT_LEAST_ONCE", "EXACTLY_ONCE"})
    void whatIsRepeatedComesBeforeWhatWaits(QoS qos) {
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);
        publish(0, WINDOW, qos);
        DeliveryPause pause = new DeliveryPause(session);
        pause.begin();
        publish(WINDOW, 5, qos);

        accept(session, id(0), qos);
        assertThat(sink.texts()).containsExactly("0", "1", "2");
        assertThat(session.queuedCount()).isEqualTo(2);
        assertThat(pause.inFlight(id(0))).isNull();
        assertThat(pause.repeat(id(0))).isFalse();
        assertThat(pause.inFlight(id(1))).isNotNull();
        assertThat(pause.repeat(id(1))).isTrue();
        pause.end();

        assertThat(sink.texts()).containsExactly("0", "1", "2", "1", "3"); // three in flight
        assertThat(sink.sent.get(3)).isEqualTo(new RecordingSink.Sent("1", qos, false, id(1), true));
        accept(session, id(1), qos);
        assertThat(sink.texts()).endsWith("3", "4");
        assertThat(bench.observer.delivered.sum()).isEqualTo(5);
        assertThat(bench.observer.abandoned).isEmpty();
    }

    @Test
    void atMostOncePassesAPause() {
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);
        new DeliveryPause(session).begin();
        publish(0, 1, QoS.AT_LEAST_ONCE);
        publish(1, 2, QoS.AT_MOST_ONCE);
        assertThat(sink.texts()).containsExactly("1");
    }

    @Test
    void aPauseEndsWithTheConnection() {
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);
        publish(0, 2, QoS.AT_LEAST_ONCE);
        new DeliveryPause(session).begin();
        publish(2, 4, QoS.AT_LEAST_ONCE);
        session.connectionEnded(sink, false, -1);

        connect();
        bench.run();
        assertThat(sink.texts()).containsExactly("0", "1", "2");
    }

    private void publishWithExpiry(QoS qos) {
        ApplicationMessage message = ApplicationMessage.builder("t")
                .payload("brief")
                .qos(qos)
                .expiryInterval(EXPIRY)
                .build()
                .accepted(bench.ids.next(), bench.nanos, null);
        bench.router.route(bench.loop(0), message, RouteTicket.NONE);
    }

    /** The refusal has ended the exchange at the client [MQTT-4.3.3-9], so the message was not handed over [MQTT-3.3.2-5]. */
    @ParameterizedTest
    @EnumSource(
            value = QoS.class,
            names = {"AT_LEAST_ONCE", "EXACTLY_ONCE"})
    void aRefusedMessageExpires(QoS qos) {
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);
        publishWithExpiry(qos);
        DeliveryPause pause = new DeliveryPause(session);
        pause.begin();
        pause.refused(id(0));
        assertThat(pause.repeat(id(0))).isTrue();
        pause.refused(id(0));
        bench.pass(EXPIRY.plusSeconds(1));

        assertThat(pause.repeat(id(0))).isFalse();

        assertThat(sink.texts()).containsExactly("brief", "brief");
        assertThat(sink.released).isEmpty();
        assertThat(session.inFlightCount()).isZero();
        assertThat(bench.observer.abandoned).isEqualTo(Map.of(DropReason.EXPIRED, 1));
        assertThat(bench.observer.dropped).isEmpty();
    }

    @Test
    void aRefusedMessageExpiresBetweenConnectionsToo() {
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);
        publishWithExpiry(QoS.EXACTLY_ONCE);
        new DeliveryPause(session).refused(id(0));
        session.connectionEnded(sink, false, -1);
        bench.pass(EXPIRY.plusSeconds(1));

        session = connect();
        bench.run();

        assertThat(sink.sent).isEmpty();
        assertThat(sink.released).isEmpty();
        assertThat(session.inFlightCount()).isZero();
    }

    @Test
    void aMessageThatWasSentAndNotRefusedDoesNotExpireAtQos2() { // [MQTT-4.3.3-7]
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);
        publishWithExpiry(QoS.EXACTLY_ONCE);
        DeliveryPause pause = new DeliveryPause(session);
        pause.refused(id(0));
        assertThat(pause.repeat(id(0))).isTrue(); // a new exchange, which has not ended
        bench.pass(EXPIRY.plusSeconds(1));

        assertThat(pause.repeat(id(0))).isTrue();
        assertThat(sink.texts()).containsExactly("brief", "brief", "brief");
    }

    /** Of a stored session such messages have left the queue, and wait for the commit and the end of the pause. */
    @Test
    void messagesInTheWindowThatWereNotSentWaitOrAreDropped() {
        FoundStore store = new FoundStore();
        bench = new SessionBench(1, LimitsConfig.defaults(), SessionConfig.defaults(), store);
        bench.registry.recover();
        SessionBench.Outcome outcome = bench.request("c", 0, false, 1_000, sink);
        bench.run();
        store.commit();
        bench.run();
        Session session = Objects.requireNonNull(outcome.session);
        SessionContents contents = new SessionContents(session);
        SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);
        publish(0, 1, QoS.EXACTLY_ONCE);
        publishWithExpiry(QoS.EXACTLY_ONCE);
        DeliveryPause pause = new DeliveryPause(session);
        pause.begin();
        bench.run();
        store.commit();
        bench.run();

        assertThat(sink.sent).isEmpty();
        assertThat(session.queuedCount()).isZero();
        assertThat(contents.waiting()).isEqualTo(2);

        bench.pass(EXPIRY.plusSeconds(1));
        pause.end();

        assertThat(sink.texts()).containsExactly("0");
        assertThat(contents.waiting()).isZero();
        assertThat(contents.dropped()).isEqualTo(1);
        assertThat(bench.observer.dropped).isEqualTo(Map.of(DropReason.EXPIRED, 1));
    }

    @Test
    void whatExpiresInTheQueueOfAnAbsentClientIsDropped() {
        Session session = connect();
        SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);
        session.connectionEnded(sink, false, -1);
        publishWithExpiry(QoS.AT_LEAST_ONCE);
        bench.run();
        assertThat(new SessionContents(session).waiting()).isEqualTo(1);

        bench.pass(EXPIRY.plusSeconds(60));

        assertThat(new SessionContents(session).waiting()).isZero();
        assertThat(new SessionContents(session).dropped()).isEqualTo(1);
    }
}
