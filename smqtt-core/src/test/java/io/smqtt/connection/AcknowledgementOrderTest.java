// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import static io.smqtt.connection.ConnectionBench.publish;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttProperties;
import io.netty.handler.codec.mqtt.MqttVersion;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscriber;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.AccessDecision;
import io.smqtt.topic.TopicFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Acknowledgements that wait for a store or a peer, which finish in any order and on any thread. */
class AcknowledgementOrderTest {

    private final ConnectionBench bench = new ConnectionBench();
    private final List<RouteTicket> tickets = new ArrayList<>();

    @AfterEach
    void close() {
        bench.close();
    }

    private void open(MqttVersion version) {
        open(version, 4);
    }

    private void open(MqttVersion version, int receiveMaximum) {
        bench.awaitsDelivery = true;
        bench.config = BrokerConfig.builder()
                .limits(LimitsConfig.builder()
                        .receiveMaximum(receiveMaximum)
                        .maxAwaitingRelease(4)
                        .build())
                .build();
        bench.open().connected(version);
        bench.router
                .index()
                .add(new Subscription(new Store(), TopicFilter.of("#"), null, QoS.EXACTLY_ONCE, false, false, 0));
    }

    /** Keeps the tickets. */
    private final class Store implements Subscriber {
        @Override
        public String id() {
            return "store";
        }

        @Override
        public @Nullable RoutingLoop owner() {
            return null;
        }

        @Override
        public void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
            ticket.hold();
            tickets.add(ticket);
        }

        @Override
        public boolean isOnline() {
            return true;
        }

        @Override
        public int inFlightCount() {
            return 0;
        }
    }

    @Test
    void leaveInTheOrderOfTheMessages() throws InterruptedException { // [MQTT-4.6.0-2] [MQTT-4.6.0-3]
        open(MqttVersion.MQTT_5);
        bench.send(publish("t", "a", 1, 1), publish("t", "b", 2, 2), publish("t", "c", 1, 3));
        tickets.get(2).release(true);
        Thread elsewhere = new Thread(() -> tickets.get(1).release(true));
        elsewhere.start();
        elsewhere.join();
        assertThat(bench.answers()).isEmpty();
        tickets.get(0).release(true);
        assertThat(bench.answers()).containsExactly("PUBACK 1 0", "PUBREC 2 0", "PUBACK 3 0");
    }

    @Test
    void aMessageThatWaitsIsCountedOnceAgainstTheQuota() { // [MQTT-3.3.4-7]
        open(MqttVersion.MQTT_5);
        bench.send(publish("t", "a", 2, 1), publish("t", "a", 2, 2), publish("t", "a", 1, 3), publish("t", "a", 1, 4));
        assertThat(bench.channel.isOpen()).isTrue();
        tickets.forEach(ticket -> ticket.release(true));
        assertThat(bench.answers()).hasSize(4);
        bench.send(publish("t", "a", 1, 5), publish("t", "a", 1, 6));
        assertThat(bench.answers()).isEmpty();
        bench.send(publish("t", "a", 1, 7));
        assertThat(bench.answers()).containsExactly("DISCONNECT 93");
    }

    @Test
    void aMessageThatCouldNotBeKeptIsRefusedAndMayBeSentAgain() {
        open(MqttVersion.MQTT_5);
        bench.send(publish("t", "a", 2, 1), publish("t", "b", 1, 2));
        tickets.get(0).release(false);
        tickets.get(1).release(false);
        assertThat(bench.answers()).containsExactly("PUBREC 1 97", "PUBACK 2 97");
        assertThat(bench.registry.find("c").inbound().isAwaitingRelease(1)).isFalse();
    }

    @Test
    void anOlderClientIsDisconnectedInstead() {
        open(MqttVersion.MQTT_3_1_1);
        bench.send(publish("t", "a", 1, 1), publish("t", "b", 1, 2));
        tickets.get(0).release(false);
        tickets.get(1).release(true);
        assertThat(bench.answers()).isEmpty();
        assertThat(bench.events).contains("disconnected QUOTA_EXCEEDED");
    }

    private void publishMany(int from, int to) {
        for (int i = from; i <= to; i++) {
            bench.send(publish("t", "a", 1, i));
        }
    }

    @Test
    void anOlderClientWaitsForRoomAndCanPingUntilItHasMuchInFlight() {
        open(MqttVersion.MQTT_3_1_1, 1_000);
        publishMany(1, 1);
        assertThat(tickets.get(0).waitsForRoom()).isTrue();
        publishMany(2, 19);
        bench.pass(Duration.ofSeconds(5));
        assertThat(tickets).hasSize(19);

        publishMany(20, 30);
        assertThat(tickets).hasSize(20);
        bench.pass(Duration.ofSeconds(59));
        tickets.get(0).release(true);
        bench.pass(Duration.ofSeconds(1));

        assertThat(bench.answers()).containsExactly("PUBACK 1 0");
        assertThat(tickets).as("nothing waits for room any more").hasSize(30);
        assertThat(bench.events).doesNotContain("disconnected QUOTA_EXCEEDED");
    }

    @Test
    void anOlderClientThatIsNotReadFromForAMinuteIsDisconnected() {
        open(MqttVersion.MQTT_3_1_1, 1_000);
        publishMany(1, 30);
        assertThat(tickets.get(3).waitsForRoom()).isTrue();
        bench.pass(Duration.ofSeconds(59));
        assertThat(bench.events).doesNotContain("disconnected QUOTA_EXCEEDED");
        bench.pass(Duration.ofSeconds(2));
        assertThat(bench.events).contains("disconnected QUOTA_EXCEEDED");
        assertThat(tickets.get(3).waitsForRoom()).isFalse();
    }

    @Test
    void aClientThatCanBeToldDoesNotWaitForRoom() {
        open(MqttVersion.MQTT_5);
        bench.send(publish("t", "a", 1, 1));
        assertThat(tickets.get(0).waitsForRoom()).isFalse();
    }

    @Test
    void aFailureIsRememberedWhenTheConnectionIsGone() {
        open(MqttVersion.MQTT_5);
        bench.send(publish("t", "a", 2, 1));
        io.smqtt.session.Session session = bench.registry.find("c");
        bench.channel.close();
        tickets.get(0).release(false);
        bench.channel.runPendingTasks();
        assertThat(session.inbound().isAwaitingRelease(1)).isFalse();
        assertThat(bench.answers()).isEmpty();
    }

    @Test
    void aRefusalDoesNotOvertakeWhatWaits() { // [MQTT-4.6.0-2] [MQTT-4.6.0-3]
        bench.authorizer = request -> (request.topic().equals("no") ? AccessDecision.DENY : AccessDecision.ALLOW).now();
        open(MqttVersion.MQTT_5);
        bench.send(
                publish("t", "a", 1, 1), publish("no", "b", 1, 2), publish("t", "c", 2, 3), publish("no", "d", 2, 4));
        assertThat(bench.answers()).isEmpty();
        tickets.get(0).release(true);
        assertThat(bench.answers()).containsExactly("PUBACK 1 0", "PUBACK 2 87");
        tickets.get(1).release(true);
        assertThat(bench.answers()).containsExactly("PUBREC 3 0", "PUBREC 4 87");
        assertThat(bench.registry.find("c").inbound().awaitingRelease()).isEqualTo(1);
    }

    @Test
    void aRepeatedMessageIsNotAcknowledgedBeforeItIsSafe() { // [MQTT-4.3.3-10]
        open(MqttVersion.MQTT_5);
        bench.send(publish("t", "a", 2, 1), publish("t", "a", 2, 1), publish("t", "a", 2, 1));
        assertThat(bench.answers()).isEmpty();
        assertThat(tickets).hasSize(1);
        tickets.get(0).release(true);
        assertThat(bench.answers()).containsExactly("PUBREC 1 0");
        bench.send(publish("t", "a", 2, 1));
        assertThat(bench.answers()).containsExactly("PUBREC 1 0");
    }

    @ParameterizedTest
    @CsvSource({"true, PUBREC 1 0", "false, PUBREC 1 97"})
    void aMessageThatIsRepeatedOnTheNextConnectionIsAcknowledgedWhenItIsSafe(boolean kept, String answer) {
        open(MqttVersion.MQTT_5);
        MqttProperties expiry = new MqttProperties();
        expiry.add(new MqttProperties.IntegerProperty(MqttProperties.SESSION_EXPIRY_INTERVAL, 100));
        bench.reconnect(expiry);
        bench.send(publish("t", "a", 2, 1));
        bench.reconnect(expiry);
        bench.send(publish("t", "a", 2, 1));
        assertThat(bench.answers()).isEmpty();
        assertThat(tickets).hasSize(1);
        tickets.get(0).release(kept);
        assertThat(bench.answers()).containsExactly(answer);
        assertThat(bench.registry.find("c").inbound().isAwaitingRelease(1)).isEqualTo(kept);
    }
}
