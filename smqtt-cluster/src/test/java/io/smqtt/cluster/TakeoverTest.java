// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static io.smqtt.cluster.BrokerCluster.PATIENCE;
import static io.smqtt.cluster.BrokerCluster.nextMessage;
import static io.smqtt.cluster.BrokerCluster.receive;
import static io.smqtt.cluster.BrokerCluster.receivesNothing;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One client identifier on several brokers of one JVM, two of them with a store. */
class TakeoverTest {

    private static final BrokerCluster CLUSTER = new BrokerCluster();

    @RegisterExtension
    static final BrokerExtension A = CLUSTER.broker(false);

    @RegisterExtension
    static final BrokerExtension B = CLUSTER.broker(false);

    @RegisterExtension
    static final BrokerExtension C = CLUSTER.broker(true);

    @RegisterExtension
    static final BrokerExtension D = CLUSTER.broker(true);

    @ParameterizedTest
    @CsvSource({"0, 1", "0, 2", "2, 0", "2, 3"}) // from memory or a store to memory or a store
    void aSessionMovesWithEverythingThatWaits(int from, int to) {
        String clientId = "moves-" + from + to;
        String topic = "moves/" + from + to;
        RawClient first = CLUSTER.persistent(from, clientId, false);
        first.subscribe(topic + "/+", 2);
        first.disconnect();
        CLUSTER.get(from).awaitOffline(clientId);
        RawClient publisher = CLUSTER.get(1).client(ProtocolVersion.MQTT_5, "publisher");
        for (int i = 0; i < 600; i++) {
            publisher.publish(topic + "/x", "m" + i, 1 + i % 2);
        }

        RawClient second = CLUSTER.persistent(to, clientId, true);
        publisher.publish(topic + "/x", "last", 1);

        for (int i = 0; i < 600; i++) {
            receive(second, "m" + i);
        }
        receive(second, "last");
        receivesNothing(second);
        await().atMost(PATIENCE).until(() -> CLUSTER.owners(clientId) == 1);
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "2, 3"})
    void whatIsInFlightKeepsItsPlaceAndIdentifier(int from, int to) {
        String clientId = "flight-" + from;
        RawClient first = CLUSTER.persistent(from, clientId, false);
        first.subscribe("flight/" + from, 2);
        RawClient publisher = CLUSTER.get(1).client(ProtocolVersion.MQTT_5, "publisher");
        publisher.publish("flight/" + from, "one", 1);
        publisher.publish("flight/" + from, "two", 2);
        publisher.publish("flight/" + from, "three", 2);
        int one = first.expectPublish("flight/" + from, "one").packetId();
        int two = first.expectPublish("flight/" + from, "two").packetId();
        int three = first.expectPublish("flight/" + from, "three").packetId();
        first.acknowledge(0x50, two);
        first.expect(MqttMessageType.PUBREL);

        RawClient second = CLUSTER.persistent(to, clientId, true);

        first.expectDisconnect(ReasonCode.SESSION_TAKEN_OVER);
        ReceivedPacket again = second.expectPublish("flight/" + from, "one");
        assertThat(again.packetId()).isEqualTo(one);
        assertThat(again.dup()).isTrue();
        assertThat(second.expect(MqttMessageType.PUBREL).packetId()).isEqualTo(two);
        assertThat(second.expectPublish("flight/" + from, "three").packetId()).isEqualTo(three);
        second.expectNothing();
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "0, 2", "2, 0", "2, 3"})
    void whatHasExpiredInFlightIsNotSentAgainByTheNodeItMovedTo(int from, int to) { // [MQTT-4.3.3-7]
        String clientId = "expired-" + from + to;
        String topic = "expired/" + from + to;
        RawClient first = CLUSTER.persistent(from, clientId, false);
        first.subscribe(topic, 2);
        RawClient publisher = CLUSTER.get(from).client(ProtocolVersion.MQTT_5, "publisher");
        List<Integer> identifiers = new ArrayList<>();
        for (int qos : new int[] {1, 2}) {
            for (int seconds : new int[] {10, 1_000}) {
                PublishBytes message = PublishBytes.to(topic).qos(qos).payload(qos + " " + seconds);
                message.properties().messageExpiry(seconds);
                publisher.publish(message);
                identifiers.add(first.expectPublish(topic, qos + " " + seconds).packetId());
            }
        }
        CLUSTER.get(from).ticker().advance(Duration.ofSeconds(20));

        RawClient second = CLUSTER.persistent(to, clientId, true);

        assertThat(second.expectPublish(topic, "1 1000").packetId()).isEqualTo(identifiers.get(1));
        assertThat(second.expectPublish(topic, "2 10").packetId()).isEqualTo(identifiers.get(2));
        assertThat(second.expectPublish(topic, "2 1000").packetId()).isEqualTo(identifiers.get(3));
        second.expectNothing();
    }

    @Test
    void aSubAckWaitsUntilTheOthersKnow() {
        RawClient subscriber = A.client(ProtocolVersion.MQTT_5, "subscriber");
        RawClient publisher = B.client(ProtocolVersion.MQTT_5, "publisher");
        for (int i = 0; i < 50; i++) {
            subscriber.subscribe("known/" + i, 1);
            publisher.publish("known/" + i, "at once", 1);
            assertThat(nextMessage(subscriber).topic()).isEqualTo("known/" + i);
        }
    }

    @Test
    void aCleanStartEndsTheSessionElsewhere() {
        RawClient first = CLUSTER.persistent(0, "clean", false);
        first.subscribe("clean", 1);

        RawClient second = B.client(ProtocolVersion.MQTT_5, "clean");

        first.expectDisconnect(ReasonCode.SESSION_TAKEN_OVER);
        RawClient publisher = A.client(ProtocolVersion.MQTT_5, "publisher");
        publisher.publish("clean", "x", 1);
        second.expectNothing();
        await().atMost(PATIENCE).until(() -> CLUSTER.owners("clean") == 1);
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "2, 3"})
    void nothingIsLostOrDoubledWhileItMovesUnderLoad(int from, int to) throws Exception {
        String clientId = "load-" + from;
        String topic = "load/" + from;
        RawClient current = CLUSTER.persistent(from, clientId, false);
        current.subscribe(topic + "/#", 2);
        AtomicBoolean stop = new AtomicBoolean();
        ExecutorService threads = Executors.newFixedThreadPool(2);
        List<Future<Integer>> publishers = new ArrayList<>();
        for (BrokerExtension broker : List.of(A, D)) {
            RawClient publisher = broker.client(ProtocolVersion.MQTT_5, "publisher-" + publishers.size());
            String own = topic + "/" + publishers.size();
            publishers.add(threads.submit(() -> {
                int sent = 0;
                while (!stop.get() && sent < 5_000) {
                    publisher.publish(own, Integer.toString(sent++), 2);
                }
                return sent;
            }));
        }
        int[] next = new int[2];
        for (int move = 0; move < 6; move++) {
            for (int i = 0; i < 20; i++) {
                take(current, topic, next);
            }
            RawClient before = current; // still connected
            current = CLUSTER.persistent(move % 2 == 0 ? to : from, clientId, true);
            before.close();
        }
        stop.set(true);
        int sent = publishers.get(0).get() + publishers.get(1).get();
        threads.shutdown();
        while (next[0] + next[1] < sent) {
            take(current, topic, next);
        }
        receivesNothing(current);
    }

    /** Takes the next message of either publisher, which must be its next one. */
    private static void take(RawClient client, String topic, int[] next) {
        ReceivedPacket packet = nextMessage(client);
        int publisher = Integer.parseInt(packet.topic().substring(topic.length() + 1));
        int number = Integer.parseInt(packet.text());
        if (!packet.dup() || number == next[publisher]) {
            assertThat(number).isEqualTo(next[publisher]);
            next[publisher]++;
        }
    }

    @Test
    void ofManyThatConnectAtOnceOneStays() throws Exception {
        CLUSTER.persistent(0, "raced", false).subscribe("raced", 1);
        int clients = 150;
        ExecutorService threads = Executors.newFixedThreadPool(clients);
        List<Future<RawClient>> racing = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            BrokerExtension broker = CLUSTER.get(i % 3);
            RawClient client = broker.open(ProtocolVersion.MQTT_5);
            client.deadline(Duration.ofSeconds(60));
            racing.add(threads.submit(() -> {
                client.send(ConnectBytes.of("raced").persistent(1_000));
                return client;
            }));
        }
        List<RawClient> connected = new ArrayList<>();
        for (Future<RawClient> future : racing) {
            connected.add(future.get());
        }
        threads.shutdown();
        int accepted = 0;
        int staying = 0;
        RawClient last = connected.get(0);
        for (RawClient client : connected) {
            ReceivedPacket connAck = client.expect(MqttMessageType.CONNACK);
            if (connAck.reasonCode() == ReasonCode.SERVER_UNAVAILABLE.value()) {
                continue; // its turn did not come in time, on a slow machine
            }
            accepted++;
            assertThat(connAck.reasonCode()).isZero();
            assertThat(connAck.sessionPresent()).isTrue();
        }
        assertThat(accepted).isPositive();
        await().atMost(PATIENCE).until(() -> CLUSTER.connected("raced") == 1);
        RawClient publisher = B.client(ProtocolVersion.MQTT_5, "publisher");
        publisher.publish("raced", "for the last one", 1);
        for (RawClient client : connected) {
            ReceivedPacket packet = client.receive();
            if (packet != null && packet.type() == MqttMessageType.PUBLISH) {
                staying++;
                last = client;
            } else {
                assertThat(packet == null || packet.type() == MqttMessageType.DISCONNECT)
                        .isTrue();
            }
        }
        assertThat(staying).isOne();
        last.ping();
        await().atMost(PATIENCE).until(() -> CLUSTER.owners("raced") == 1);
    }
}
