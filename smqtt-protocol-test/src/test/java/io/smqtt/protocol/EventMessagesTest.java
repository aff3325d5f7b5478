// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.MqttConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.Authentication;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PublishBytes;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** What happens to clients, as messages below $SYS/brokers and $events. The user root has the role admin. */
class EventMessagesTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(
            config -> config.mqtt(
                    MqttConfig.defaults().toBuilder().eventMessages(true).build()),
            parts -> parts.authenticator(request -> Mono.just(answer(request.userName()))));

    private static Authentication answer(@Nullable String user) {
        return "nobody".equals(user)
                ? Authentication.refused()
                : new Authentication.Accepted(user, "root".equals(user) ? Set.of("admin") : Set.of());
    }

    private RawClient open(String clientId, String user) {
        RawClient client = broker.open(V5);
        client.connect(ConnectBytes.of(clientId).userName(user));
        return client;
    }

    private static String payload(RawClient client, String topic) {
        ReceivedPacket packet = client.expect(MqttMessageType.PUBLISH);
        assertThat(packet.topic()).isEqualTo(topic);
        assertThat(packet.qos() + " " + packet.retain()).isEqualTo("0 false");
        return packet.text();
    }

    @Test
    void aClientThatConnectsAndDisconnects() {
        RawClient admin = open("admin", "root");
        admin.subscribe("$SYS/brokers/+/clients/emqx_c/#", 2);
        String prefix = "$SYS/brokers/smqtt/clients/emqx_c/";

        RawClient client = broker.open(V5);
        client.connect(ConnectBytes.of("emqx_c").userName("u").keepAlive(60).persistent(100));
        client.disconnect();

        assertThat(payload(admin, prefix + "connected"))
                .contains("\"clientid\":\"emqx_c\"", "\"username\":\"u\"", "\"ipaddress\":\"127.0.0.1\"")
                .contains("\"proto_name\":\"MQTT\"", "\"proto_ver\":5", "\"keepalive\":60", "\"clean_start\":false")
                .contains("\"expiry_interval\":100", "\"connack\":0", "\"event\":\"client.connected\"")
                .contains("\"sockport\":" + broker.address().getPort())
                .containsPattern("\"connected_at\":\\d{13},")
                .containsPattern("\"ts\":\\d{13},");
        assertThat(payload(admin, prefix + "disconnected"))
                .contains("\"reason\":\"normal\"", "\"event\":\"client.disconnected\"")
                .containsPattern("\"disconnected_at\":\\d{13},");
    }

    @Test
    void aClientThatSubscribesAndUnsubscribes() {
        RawClient admin = open("admin", "root");
        admin.subscribe("$events/session/#", 0);
        payload(admin, "$events/session/subscribed"); // its own
        RawClient client = open("c/\"1", "u");

        client.subscribe("t/1", 1);
        client.unsubscribe("t/1");

        assertThat(payload(admin, "$events/session/subscribed"))
                .contains("\"clientid\":\"c/\\\"1\"", "\"topic\":\"t/1\"", "\"username\":\"u\"")
                .contains("\"subopts\":{\"qos\":1,\"nl\":0,\"rap\":0,\"is_new\":true}");
        assertThat(payload(admin, "$events/session/unsubscribed")).contains("\"topic\":\"t/1\"");
    }

    @Test
    void aTakeoverIsSeenByItsReason() {
        RawClient admin = open("admin", "root");
        admin.subscribe("$events/client/disconnected", 0);
        open("c", "u");
        open("c", "u");
        assertThat(payload(admin, "$events/client/disconnected")).contains("\"reason\":\"takenover\"");
    }

    @Test
    void messagesThatAreDeliveredAndDropped() {
        List<String> events = new CopyOnWriteArrayList<>();
        Disposable listener = collect("$events/message/#", events);
        RawClient subscriber = open("s", "u");
        subscriber.subscribe("t/1", 1);
        RawClient publisher = open("p", "v");

        await().until(() -> {
            publisher.publish("t/none", "nobody", 1);
            return !events.isEmpty();
        });
        publisher.publish("t/1", "\"somebody\"", 2);

        assertThat(events.get(0))
                .startsWith("$events/message/dropped {\"event\":\"message.dropped\",\"topic\":\"t/none\",\"qos\":1")
                .contains("\"from_clientid\":\"p\"", "\"payload\":\"nobody\"", "\"reason\":\"no_subscribers\"");
        String begin = "$events/message/delivered {\"event\":\"message.delivered\",\"topic\":\"t/1\",\"qos\":1";
        await().untilAsserted(() -> assertThat(events)
                .filteredOn(event -> event.startsWith(begin))
                .singleElement(STRING)
                .contains("\"from_clientid\":\"p\"", "\"clientid\":\"s\"", "\"username\":\"u\"")
                .contains("\"payload\":\"\\\"somebody\\\"\"", "\"payload_size\":10"));
        listener.dispose();
    }

    @Test
    void messagesThatAreAcknowledged() {
        List<String> events = new CopyOnWriteArrayList<>();
        Disposable listener = collect("$events/message/acked", events);
        RawClient subscriber = open("s", "u");
        subscriber.subscribe("t/#", 2);
        RawClient publisher = open("p", "v");
        await().until(
                        () -> { // the first ones may come before the broker knows that somebody listens
                            publisher.publish("t/0", "none", 0);
                            publisher.publish("t/1", "one", 1);
                            subscriber.expectPublish("t/0", "none");
                            subscriber.pubAck(subscriber.expectPublish("t/1", "one"));
                            subscriber.ping(); // the acknowledgement was processed
                            return !events.isEmpty();
                        });
        events.clear();

        publisher.publish("t/1", "refused", 1);
        ReceivedPacket refused = subscriber.expectPublish("t/1", "refused");
        subscriber.send(PacketBytes.packet(0x40).u16(refused.packetId()).u8(0x80));
        publisher.publish("t/2", "two", 2);
        subscriber.pubRecAndComp(subscriber.expectPublish("t/2", "two"));

        await().until(() -> !events.isEmpty());
        assertThat(events)
                .singleElement(STRING)
                .startsWith("$events/message/acked {\"event\":\"message.acked\",\"topic\":\"t/2\",\"qos\":2")
                .contains("\"from_clientid\":\"p\"", "\"clientid\":\"s\"", "\"username\":\"u\"", "\"payload\":\"two\"");
        listener.dispose();
    }

    @Test
    void aDeliveryThatIsDropped() {
        List<String> events = new CopyOnWriteArrayList<>();
        Disposable listener = collect("$events/message/delivery_dropped", events);
        RawClient subscriber = broker.open(V5);
        ConnectBytes connect = ConnectBytes.of("s").userName("u");
        connect.properties().maximumPacketSize(30);
        subscriber.connect(connect);
        subscriber.subscribe("t", 0);
        RawClient publisher = open("p", "v");
        await().until(() -> {
            publisher.publish("t", "more than thirty bytes with its header", 1);
            return !events.isEmpty();
        });
        publisher.publish("none", "x", 1);
        assertThat(events)
                .allSatisfy(event -> assertThat(event)
                        .startsWith("$events/message/delivery_dropped {\"event\":\"delivery.dropped\",\"topic\":\"t\"")
                        .contains("\"clientid\":\"s\"", "\"reason\":\"packet_too_large\""));
        listener.dispose();
    }

    @Test
    void answersToConnect() {
        RawClient admin = open("admin", "root");
        admin.subscribe("$events/client/connack", 0);
        open("c", "u");
        assertThat(payload(admin, "$events/client/connack"))
                .contains("\"clientid\":\"c\"", "\"event\":\"client.connack\"", "\"reason_code\":\"success\"");
        RawClient refused = broker.open(V5);
        refused.send(ConnectBytes.of("d").userName("nobody"));
        assertThat(refused.expect(MqttMessageType.CONNACK).reasonCode()).isEqualTo(0x86);
        assertThat(payload(admin, "$events/client/connack"))
                .contains("\"clientid\":\"d\"", "\"username\":\"nobody\"")
                .contains("\"reason_code\":\"bad_user_name_or_password\"");
    }

    private Disposable collect(String filter, List<String> events) {
        return broker.broker()
                .subscribe(filter)
                .subscribe(event -> events.add(event.topic().value()
                        + ' '
                        + new String(event.payload().toByteArray(), StandardCharsets.UTF_8)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "$SYS/#",
                "$SYS/brokers/#",
                "$SYS/+/+/clients/+/connected",
                "$events/#",
                "$events/client/connected"
            })
    void onlyAdministratorsMayKnowWhoConnects(String filter) {
        RawClient client = open("c", "u");
        assertThat(client.subscribe(filter, 0).reasonCodes()).containsExactly(0x87);
        assertThat(client.subscribe("$SYS/broker/#", 0).reasonCodes()).containsExactly(0);
        assertThat(open("admin", "root").subscribe(filter, 0).reasonCodes()).containsExactly(0);
        open("other", "u");
        client.expectNothing();
    }

    @ParameterizedTest
    @ValueSource(strings = {"$events/client/connected", "$SYS/brokers/smqtt/clients/c/connected"})
    void nobodyMayPublishEvents(String topic) {
        RawClient client = open("admin", "root");
        client.send(PublishBytes.to(topic).qos(1, 1).payload("x"));
        assertThat(client.expect(MqttMessageType.PUBACK).reasonCode()).isEqualTo(0x87);
    }
}
