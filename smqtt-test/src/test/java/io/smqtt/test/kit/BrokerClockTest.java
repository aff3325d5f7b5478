// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.hivemq.client.mqtt.MqttClient;
import com.hivemq.client.mqtt.MqttGlobalPublishFilter;
import com.hivemq.client.mqtt.datatypes.MqttQos;
import com.hivemq.client.mqtt.mqtt5.Mqtt5BlockingClient;
import com.hivemq.client.mqtt.mqtt5.message.connect.Mqtt5Connect;
import com.hivemq.client.mqtt.mqtt5.message.publish.Mqtt5Publish;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.BrokerClock;
import io.smqtt.test.MqttBroker;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.TestBroker;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.eclipse.paho.client.mqttv3.IMqttDeliveryToken;
import org.eclipse.paho.client.mqttv3.MqttCallbackExtended;
import org.eclipse.paho.client.mqttv3.MqttConnectOptions;
import org.eclipse.paho.client.mqttv3.MqttMessage;
import org.eclipse.paho.client.mqttv3.persist.MemoryPersistence;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An hour passes at once. */
@Tag("slow")
@MqttBroker
@Timeout(120)
class BrokerClockTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final Duration HOUR = Duration.ofHours(1);

    private static PublishBytes expiring(String topic, String payload, long seconds) {
        PublishBytes message = PublishBytes.to(topic).payload(payload).qos(1);
        message.properties().messageExpiry(seconds);
        return message;
    }

    @Test
    void keepAliveRunsOut(TestBroker broker, BrokerClock clock) {
        List<RawClient> clients = IntStream.range(0, 8) // on all event loops
                .mapToObj(i -> broker.open(V5))
                .toList();
        clients.forEach(client ->
                client.connect(ConnectBytes.of("c" + clients.indexOf(client)).keepAlive(60)));
        clock.advance(Duration.ofSeconds(50));
        clients.forEach(RawClient::ping);

        clock.advance(Duration.ofSeconds(100));

        clients.forEach(client -> client.expectDisconnect(ReasonCode.KEEP_ALIVE_TIMEOUT));
        assertThat(clock.advanced()).isEqualTo(Duration.ofSeconds(150));
    }

    @Test
    void sessionsExpire(TestBroker broker, BrokerClock clock) {
        broker.open(V5).connect(ConnectBytes.of("short").persistent(3_599));
        broker.open(V5).connect(ConnectBytes.of("long").persistent(7_200));
        broker.clear();
        assertThat(broker).hasDisconnected("short").hasDisconnected("long");

        clock.advance(HOUR);

        assertThat(broker).hasSession("long").hasNoSession("short");
        assertThat(broker.open(V5)
                        .connect(ConnectBytes.of("long").persistent(7_200))
                        .sessionPresent())
                .isTrue();
    }

    @Test
    void queuedAndRetainedMessagesExpire(TestBroker broker, BrokerClock clock) {
        RawClient absent = broker.open(V5);
        absent.connect(ConnectBytes.of("absent").persistent(100_000));
        absent.subscribe("t", 1);
        absent.abort();
        assertThat(broker).hasDisconnected("absent");
        RawClient publisher = broker.client(V5, "publisher");
        publisher.publish(expiring("t", "stale", 3_000));
        publisher.publish(expiring("t", "fresh", 7_200));
        publisher.publish(expiring("r/stale", "stale", 3_000).retained());
        publisher.publish(expiring("r/fresh", "fresh", 7_200).retained());

        clock.advance(HOUR);

        RawClient back = broker.open(V5);
        back.connect(ConnectBytes.of("absent").persistent(100_000));
        ReceivedPacket fresh = back.expectPublish("t", "fresh");
        assertThat(fresh.number(0x02)).isBetween(3_500L, 3_600L);
        RawClient late = broker.client(V5, "late");
        late.subscribe("r/#", 0);
        late.expectPublish("r/fresh", "fresh");
        late.expectNothing();
    }

    @Test
    void aWillIsDelayed(TestBroker broker, BrokerClock clock) {
        RawClient watcher = broker.client(V5, "watcher");
        watcher.subscribe("will", 0);
        PublishBytes will = PublishBytes.to("will").payload("gone");
        will.properties().willDelay(1_800);
        RawClient client = broker.open(V5);
        client.connect(ConnectBytes.of("c").persistent(100_000).will(will));
        client.abort();
        assertThat(broker).hasDisconnected("c");
        clock.advance(Duration.ofSeconds(1_700));
        watcher.expectNothing();

        clock.advance(Duration.ofSeconds(101));

        watcher.expectPublish("will", "gone");
    }

    @Test
    void aRealClientMissesAnHour(TestBroker broker, BrokerClock clock) throws Exception {
        Mqtt5BlockingClient client = MqttClient.builder()
                .useMqttVersion5()
                .identifier("real")
                .serverHost(broker.host())
                .serverPort(broker.port())
                .buildBlocking();
        Mqtt5Connect connect = Mqtt5Connect.builder()
                .cleanStart(false)
                .noKeepAlive()
                .sessionExpiryInterval(7_200)
                .build();
        client.connect(connect);
        client.subscribeWith().topicFilter("t").qos(MqttQos.AT_LEAST_ONCE).send();
        client.disconnect();
        assertThat(broker).hasDisconnected("real").hasSubscriptions("real", 1);
        RawClient publisher = broker.client(V5, "publisher");
        publisher.publish(expiring("t", "stale", 3_000));
        publisher.publish(expiring("t", "fresh", 7_000));

        clock.advance(HOUR);

        try (Mqtt5BlockingClient.Mqtt5Publishes messages = client.publishes(MqttGlobalPublishFilter.ALL)) {
            assertThat(client.connect(connect).isSessionPresent()).isTrue();
            Mqtt5Publish message = messages.receive(30, TimeUnit.SECONDS).orElseThrow();
            assertThat(new String(message.getPayloadAsBytes())).isEqualTo("fresh");
            assertThat(message.getMessageExpiryInterval().orElseThrow()).isBetween(3_300L, 3_400L);
            clock.advance(HOUR); // a client without keep alive stays
            client.publishWith().topic("still/here").qos(MqttQos.AT_LEAST_ONCE).send();
            assertThat(broker).received("still/here").from("real");
        }
        client.disconnect();
        clock.advance(HOUR.multipliedBy(2));
        assertThat(broker).hasNoSession("real");
    }

    @Test
    void anOlderClientIsSentAwayAndComesAgain(TestBroker broker, BrokerClock clock) throws Exception {
        CountDownLatch again = new CountDownLatch(2);
        MqttConnectOptions options = new MqttConnectOptions();
        options.setKeepAliveInterval(60);
        options.setCleanSession(false);
        options.setAutomaticReconnect(true);
        try (org.eclipse.paho.client.mqttv3.MqttClient client = new org.eclipse.paho.client.mqttv3.MqttClient(
                broker.uri("tcp").toString(), "old", new MemoryPersistence())) {
            client.setCallback(new MqttCallbackExtended() {
                @Override
                public void connectComplete(boolean reconnect, String serverUri) {
                    again.countDown();
                }

                @Override
                public void connectionLost(Throwable cause) {}

                @Override
                public void messageArrived(String topic, MqttMessage message) {}

                @Override
                public void deliveryComplete(IMqttDeliveryToken token) {}
            });
            client.connect(options);
            clock.advance(HOUR);

            assertThat(again.await(60, TimeUnit.SECONDS)).isTrue();
            client.publish("t", "x".getBytes(), 1, false);
            assertThat(broker).received("t").from("old").times(1);
            client.disconnect();
        }
    }

    @Test
    void timeDoesNotGoBack() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> BrokerClock.standing().advance(Duration.ofSeconds(-1)));
    }
}
