// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Deliveries that pause because the client refuses messages for the time being. */
class DeliveryPauseTest {

    private static final int WINDOW = 3;

    private final SessionBench bench = new SessionBench(1);
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
}
