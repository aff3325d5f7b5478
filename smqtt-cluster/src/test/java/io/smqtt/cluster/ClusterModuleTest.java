// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.PropertyId;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;

/** Brokers of one JVM as a cluster, with real clients. */
class ClusterModuleTest {

    private static final LoopbackHub HUB = new LoopbackHub();
    private static final ClusterModule MODULE_A = module("a");
    private static final ClusterModule MODULE_B = module("b");

    @RegisterExtension
    static final BrokerExtension A = new BrokerExtension(config -> config, parts -> parts.module(MODULE_A));

    @RegisterExtension
    static final BrokerExtension B = new BrokerExtension(config -> config, parts -> parts.module(MODULE_B));

    private static ClusterModule module(String nodeId) {
        return new ClusterModule(ClusterConfig.defaults(), nodeId, HUB.transport(nodeId), ClusterSettings.defaults());
    }

    private static RawClient clientOf(BrokerExtension broker, String clientId) {
        return broker.client(ProtocolVersion.MQTT_5, clientId);
    }

    /** Publishes until somebody wants it; then it has been delivered once. */
    private static void publishUntilMatched(RawClient publisher, PublishBytes message) {
        await().until(() -> {
            publisher.send(message);
            return publisher.expect(MqttMessageType.PUBACK).reasonCode() == 0;
        });
    }

    private static void ready(RawClient publisher, String topic) {
        publishUntilMatched(publisher, PublishBytes.to(topic).payload("ready").qos(1, publisher.nextPacketId()));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void messagesCrossNodesAtEachQualityOfService(int qos) {
        RawClient subscriber = clientOf(B, "subscriber");
        RawClient publisher = clientOf(A, "publisher");
        subscriber.subscribe("qos/" + qos, qos);
        ready(publisher, "qos/" + qos);
        subscriber.expectPublish("qos/" + qos, "ready");

        publisher.publish("qos/" + qos, "hello", qos);

        assertThat(subscriber.expectPublish("qos/" + qos, "hello").qos()).isEqualTo(qos);
        subscriber.expectNothing();
    }

    @Test
    void aMessageCrossesOnceHoweverManyWantIt() {
        RawClient plain = clientOf(B, "plain");
        RawClient shared = clientOf(B, "shared");
        RawClient publisher = clientOf(A, "publisher");
        plain.subscribe("many/#", 1);
        plain.subscribe("many/+", 1);
        shared.subscribe("$share/one/many/#", 1);
        shared.subscribe("$share/two/many/#", 1);
        ready(publisher, "many/x");
        await().until(() -> MODULE_A.node().counters().bulkFrames() > 0);
        ready(publisher, "many/y");
        plain.expectPublish("many/x", "ready");
        plain.expectPublish("many/y", "ready");
        plain.expectNothing();
        int ofShared = count(shared);
        long before = MODULE_A.node().counters().bulkMessages();

        publisher.publish("many/z", "hello", 1);

        plain.expectPublish("many/z", "hello");
        await().untilAsserted(() ->
                assertThat(MODULE_A.node().counters().bulkMessages()).isEqualTo(before + 1));
        assertThat(ofShared).isPositive();
        assertThat(count(shared)).as("one for each group").isEqualTo(2);
    }

    private static int count(RawClient client) {
        int[] count = new int[1];
        client.expectNothingBut(packet -> count[0]++);
        return count[0];
    }

    @Test
    void propertiesExpiryAndRetainFlagCross() {
        RawClient subscriber = clientOf(B, "subscriber");
        RawClient publisher = clientOf(A, "publisher");
        subscriber.subscribe("full", 1 | 0x08); // retain as published
        PublishBytes message = PublishBytes.to("full").payload("all").qos(1, publisher.nextPacketId());
        message.properties()
                .messageExpiry(100)
                .contentType("text")
                .responseTopic("back")
                .correlationData((byte) 1)
                .user("k", "v");
        publishUntilMatched(publisher, message.retained());

        ReceivedPacket received = subscriber.expectPublish("full", "all");

        assertThat(received.retain()).isTrue();
        assertThat(received.number(PropertyId.MESSAGE_EXPIRY_INTERVAL)).isEqualTo(100);
        assertThat(received.property(PropertyId.CONTENT_TYPE)).isEqualTo("text");
        assertThat(received.property(PropertyId.RESPONSE_TOPIC)).isEqualTo("back");
        assertThat(received.userProperties()).hasSize(1);
    }

    @Test
    void retainedMessagesAreOnAllNodes() {
        RawClient publisher = clientOf(A, "publisher");
        publisher.publish(PublishBytes.to("kept/here").payload("v").qos(1).retained());
        await().until(() -> isRetained(B, "kept/#"));

        RawClient subscriber = clientOf(B, "subscriber");
        subscriber.subscribe("kept/#", 0);
        assertThat(subscriber.expectPublish("kept/here", "v").retain()).isTrue();

        RawClient other = clientOf(B, "remover");
        other.publish(PublishBytes.to("kept/here").payload("").qos(1).retained());
        await().until(() -> !isRetained(A, "kept/#"));
    }

    /** Whether a new subscriber gets anything before the answer to a ping. */
    private static boolean isRetained(BrokerExtension broker, String filter) {
        RawClient client = clientOf(broker, "looks");
        client.subscribe(filter, 0);
        return count(client) > 0;
    }

    @Test
    void aMessageForAGroupWithoutAnybodyThereStaysWhereItIs() {
        away(A, "away-a");
        away(B, "away-b");
        RawClient publisher = clientOf(A, "publisher");
        await().until(() -> MODULE_A.node().view().peers().get(0).node().routes() > 0
                && MODULE_B.node().view().peers().get(0).node().routes() > 0);
        long before = forwarded();

        for (int i = 0; i < 20; i++) {
            publisher.publish("nobody", "hello " + i, 1);
        }

        assertThat(forwarded() - before).isLessThanOrEqualTo(4 * 20);
        List<String> payloads = new ArrayList<>();
        for (RawClient back : List.of(persistent(A, "away-a"), persistent(B, "away-b"))) {
            back.expectNothingBut(packet -> payloads.add(packet.text()));
        }
        assertThat(payloads).hasSize(20).doesNotHaveDuplicates();
        assertThat(forwarded() - before).isLessThanOrEqualTo(2 * 4 * 20);
    }

    private static long forwarded() {
        return MODULE_A.node().counters().bulkMessages()
                + MODULE_B.node().counters().bulkMessages();
    }

    private static void away(BrokerExtension broker, String clientId) {
        RawClient client = persistent(broker, clientId);
        client.subscribe("$share/absent/nobody", 1);
        client.disconnect();
    }

    private static RawClient persistent(BrokerExtension broker, String clientId) {
        RawClient client = broker.open(ProtocolVersion.MQTT_5);
        client.connect(ConnectBytes.of(clientId).persistent(1_000));
        return client;
    }

    @Test
    void eachNodeHasStatusTopicsOfItsOwn() {
        RawClient subscriber = clientOf(B, "subscriber");
        List<String> seen = new CopyOnWriteArrayList<>();
        Disposable live = B.broker()
                .subscribe("$SYS/#")
                .subscribe(message -> seen.add(message.topic().value()));
        subscriber.subscribe("after", 0);
        ready(clientOf(A, "publisher"), "after");
        subscriber.expectPublish("after", "ready");

        A.broker().publish(kept("$SYS/broker/uptime")).block(Duration.ofSeconds(30));
        A.broker().publish(kept("after")).block(Duration.ofSeconds(30));

        subscriber.expectPublish("after", "kept");
        await().until(() ->
                B.broker().subscribe("after").take(Duration.ofMillis(100)).blockFirst() != null);
        assertThat(B.broker().subscribe("$SYS/#").take(Duration.ofMillis(100)).blockFirst())
                .isNull();
        assertThat(seen).isEmpty();
        live.dispose();
    }

    private static ApplicationMessage kept(String topic) {
        return ApplicationMessage.builder(topic)
                .payload("kept")
                .qos(QoS.AT_LEAST_ONCE)
                .retain(true)
                .build();
    }

    @ParameterizedTest
    @CsvSource({
        "no.such.host.invalid:7800, cluster.bind: there is no such host",
        "8.8.8.8:7800, cluster.bind: is neither a loopback nor a private address"
    })
    void anAddressThatCannotBeUsedIsNamed(String bind, String problem) {
        ClusterConfig config = ClusterConfig.builder().nodeId("a").bind(bind).build();

        assertThat(ClusterModule.problems(config)).singleElement().asString().startsWith(problem);
    }

    @Test
    void whatCannotBeFollowedStopsTheStart() {
        ClusterConfig config = ClusterConfig.builder()
                .enabled(true)
                .bind("8.8.8.8:7800")
                .seeds(List.of())
                .discovery(ClusterConfig.Discovery.KUBERNETES)
                .build();

        assertThatThrownBy(() -> ClusterModule.of(config))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("cluster.seeds")
                .hasMessageContaining("cluster.bind");
    }
}
