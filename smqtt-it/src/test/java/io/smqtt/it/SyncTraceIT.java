// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PublishBytes;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The real broker, watched by {@code strace}: what it tells clients and what it asks of the disk, in which order. */
class SyncTraceIT {

    private static final int ONE_BY_ONE = 2_000;
    private static final int IN_A_WINDOW = 8_000;
    private static final int QOS_2 = 1_000;
    private static final int WINDOW = 100;
    private static final int REFUSED = 20;
    private static final String TOPIC = "t";
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final OfflineSession session = new OfflineSession("away", TOPIC);

    @TempDir
    Path directory;

    @Test
    void everyAcknowledgementFollowsTheSyncThatCoversIt() { // [MQTT-4.3.2-4] [MQTT-4.3.3-8]
        int number = 0;
        try (BrokerProcess broker = start()) {
            session.open(broker.address("tcp"));
            try (RawClient publisher = publisher(broker)) {
                for (; number < ONE_BY_ONE; number++) {
                    assertThat(publish(publisher, number + 1)).isZero();
                }
                publishInAWindow(publisher, number + 1, 1, IN_A_WINDOW);
                number += IN_A_WINDOW;
                publishInAWindow(publisher, number + 1, 2, QOS_2);
                number += QOS_2;
            }
            broker.kill9();
        }
        AcknowledgementTrace trace = trace();
        System.out.println(trace);
        assertThat(trace.early()).isEmpty();
        assertThat(trace.acknowledged()).isEqualTo(number);
        assertThat(trace.syncs()).isGreaterThan(ONE_BY_ONE);
        try (BrokerProcess broker = StoredBroker.start(directory)) {
            assertThat(session.drain(broker.address("tcp"))).isEqualTo(payloads(number));
        }
    }

    @Test
    void noAcknowledgementLeavesAfterAFailedSync() {
        int number = 0;
        try (BrokerProcess broker = start("-e", "inject=fdatasync:error=EIO:when=200+")) {
            session.open(broker.address("tcp"));
            try (RawClient publisher = publisher(broker);
                    RawClient old = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_3_1_1);
                    RawClient other = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_3_1_1)) {
                old.deadline(PATIENCE).connect("old");
                other.deadline(PATIENCE).connect("other");
                other.subscribe("other", 0);
                int reason = publish(publisher, number + 1);
                while (reason == 0) {
                    number++;
                    reason = publish(publisher, number + 1);
                }
                assertThat(reason).isEqualTo(ReasonCode.QUOTA_EXCEEDED.value());
                for (int i = 2; i <= REFUSED; i++) {
                    assertThat(publish(publisher, number + i)).isEqualTo(ReasonCode.QUOTA_EXCEEDED.value());
                }
                old.send(PublishBytes.to(TOPIC).payload("old").qos(1, 1)).expectClosed();
                other.send(PublishBytes.to("other").payload("goes on"));
                other.expectPublish("other", "goes on");
                other.ping();
            }
            broker.kill9();
        }
        AcknowledgementTrace trace = trace();
        System.out.println(trace);
        assertThat(trace.errors()).isPositive();
        assertThat(trace.early()).isEmpty();
        assertThat(trace.acknowledged()).isEqualTo(number);
        assertThat(trace.acknowledgedAfterError()).isZero();
        assertThat(trace.refused()).isEqualTo(REFUSED);
        try (BrokerProcess broker = StoredBroker.start(directory)) {
            assertThat(session.drain(broker.address("tcp"))).isEqualTo(payloads(number));
        }
    }

    @Test
    void whenSyncsSucceedAgainSoDoMessages() {
        List<String> acknowledged = new ArrayList<>();
        int refused = 0;
        try (BrokerProcess broker = start("-e", "inject=fdatasync:error=EIO:when=200..203")) {
            session.open(broker.address("tcp"));
            long deadlineNanos = System.nanoTime() + PATIENCE.toNanos();
            try (RawClient publisher = publisher(broker)) {
                for (int number = 1; refused == 0 || acknowledged.size() < 400; number++) {
                    if (publish(publisher, number) == 0) {
                        acknowledged.add(AcknowledgementTrace.payload(number));
                    } else {
                        refused++;
                    }
                    assertThat(System.nanoTime()).isLessThan(deadlineNanos);
                }
            }
            broker.kill9();
        }
        AcknowledgementTrace trace = trace();
        System.out.println(trace);
        assertThat(trace.errors()).isPositive();
        assertThat(trace.early()).isEmpty();
        try (BrokerProcess broker = StoredBroker.start(directory)) {
            assertThat(session.drain(broker.address("tcp"))).isEqualTo(acknowledged);
        }
    }

    private BrokerProcess start(String... faults) {
        return StoredBroker.start(directory, SystemCalls.tracing(file(), faults));
    }

    private Path file() {
        return directory.resolve("calls.txt");
    }

    private AcknowledgementTrace trace() {
        return AcknowledgementTrace.of(SystemCalls.read(file()));
    }

    private static RawClient publisher(BrokerProcess broker) {
        InetSocketAddress address = broker.address("tcp");
        RawClient client = RawClient.to(address, ProtocolVersion.MQTT_5).deadline(PATIENCE);
        client.connect("publisher");
        return client;
    }

    /** The reason code of the answer. */
    private static int publish(RawClient publisher, int number) {
        return publisher.send(message(number, 1)).expect(MqttMessageType.PUBACK).reasonCode();
    }

    private static void publishInAWindow(RawClient publisher, int first, int qos, int count) {
        int sent = 0;
        int answered = 0;
        while (answered < count) {
            while (sent < count && sent - answered < WINDOW) {
                publisher.send(message(first + sent++, qos));
            }
            ReceivedPacket answer = publisher.expect(qos == 1 ? MqttMessageType.PUBACK : MqttMessageType.PUBREC);
            assertThat(answer.reasonCode()).isZero();
            answered++;
        }
        if (qos == 2) {
            for (int i = 0; i < count; i++) {
                publisher.acknowledge(0x62, first + i).expect(MqttMessageType.PUBCOMP);
            }
        }
    }

    private static PublishBytes message(int number, int qos) {
        return PublishBytes.to(TOPIC)
                .payload(AcknowledgementTrace.payload(number))
                .qos(qos, number);
    }

    private static List<String> payloads(int count) {
        return IntStream.rangeClosed(1, count)
                .mapToObj(AcknowledgementTrace::payload)
                .toList();
    }
}
