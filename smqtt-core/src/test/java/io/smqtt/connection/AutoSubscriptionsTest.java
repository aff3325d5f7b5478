// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import static io.smqtt.connection.ConnectionBench.publish;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessage;
import io.netty.handler.codec.mqtt.MqttMessageBuilders;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.netty.handler.codec.mqtt.MqttVersion;
import io.smqtt.config.AutoSubscriptionConfig;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Subscriptions that the broker makes for each client. */
class AutoSubscriptionsTest {

    private final ConnectionBench bench = new ConnectionBench();

    @AfterEach
    void close() {
        bench.close();
    }

    /** The example of EMQX's manual: its topics, and the client demo_client1 with user name admin. */
    @Test
    void placeholdersStandForTheNamesOfTheClient() {
        connect(
                "demo_client1",
                "admin",
                MqttVersion.MQTT_3_1_1,
                Map.of(),
                "c/${clientid}",
                "client/${clientid}/username/${username}/host/${host}/port/${port}");

        assertThat(filters("demo_client1"))
                .containsExactlyInAnyOrder(
                        "c/demo_client1", "client/demo_client1/username/admin/host/127.0.0.1/port/5000");
        bench.send(publish("c/demo_client1", "m", 0, 0));
        assertThat(bench.answers()).as("CONNACK, no SUBACK").hasSize(2).last().isEqualTo("PUBLISH c/demo_client1 m");
    }

    @Test
    void optionsAreThoseOfMqtt5AndOlderClientsHaveNone() {
        AutoSubscriptionConfig all = AutoSubscriptionConfig.of("a").toBuilder()
                .qos(1)
                .noLocal(true)
                .retainAsPublished(true)
                .retainHandling(2)
                .build();

        connect("v5", null, MqttVersion.MQTT_5, Map.of("all", all));
        bench.send(publish("a", "own", 1, 1));
        assertThat(bench.receivedTypes()).containsExactly(MqttMessageType.CONNACK, MqttMessageType.PUBACK);
        assertThat(options("v5")).containsExactly("a 1 true true");
    }

    @Test
    void olderClientsGetThemWithoutTheOptionsOfMqtt5() {
        AutoSubscriptionConfig all = AutoSubscriptionConfig.of("a").toBuilder()
                .qos(1)
                .noLocal(true)
                .retainAsPublished(true)
                .build();

        connect("v3", null, MqttVersion.MQTT_3_1_1, Map.of("all", all));
        assertThat(options("v3")).containsExactly("a 1 false false");
    }

    @Test
    void aTopicWithoutAValueOrWithOneThatIsNoPlainLevelIsLeftOut() {
        connect("+", null, MqttVersion.MQTT_5, Map.of(), "c/${clientid}", "u/${username}", "fixed");

        assertThat(filters("+")).containsExactly("fixed");
    }

    @Test
    void accessRulesAndLimitsApply() {
        bench.config = BrokerConfig.builder()
                .limits(LimitsConfig.builder().maxSubscriptionsPerClient(1).build())
                .build();
        bench.authorizer =
                request -> (request.topic().equals("secret") ? AccessDecision.DENY : AccessDecision.ALLOW).now();

        connect("one", null, MqttVersion.MQTT_5, Map.of(), "secret", "first", "second");

        assertThat(filters("one")).containsExactly("first");
        assertThat(bench.receivedTypes()).containsExactly(MqttMessageType.CONNACK);
    }

    @Test
    void packetsWaitForALateDecision() {
        Sinks.One<AccessDecision> late = Sinks.one();
        Mono<AccessDecision> answer = late.asMono();
        bench.authorizer = request -> request.action() == AccessAction.SUBSCRIBE ? answer : AccessDecision.ALLOW.now();

        connect("one", null, MqttVersion.MQTT_5, Map.of(), "slow");
        bench.send(publish("slow", "m", 0, 0));
        assertThat(filters("one")).isEmpty();

        late.tryEmitValue(AccessDecision.ALLOW);
        assertThat(bench.answers()).last().isEqualTo("PUBLISH slow m");
        assertThat(filters("one")).containsExactly("slow");
    }

    private void connect(
            String clientId,
            String userName,
            MqttVersion version,
            Map<String, AutoSubscriptionConfig> subscriptions,
            String... topics) {
        Map<String, AutoSubscriptionConfig> all = new LinkedHashMap<>(subscriptions);
        for (String topic : topics) {
            all.put("t" + all.size(), AutoSubscriptionConfig.of(topic));
        }
        bench.config = bench.config.toBuilder().autoSubscriptions(all).build();
        MqttMessageBuilders.ConnectBuilder connect = MqttMessageBuilders.connect()
                .clientId(clientId)
                .cleanSession(true)
                .protocolVersion(version);
        if (userName != null) {
            connect.hasUser(true).username(userName);
        }
        MqttMessage packet = connect.build();
        bench.open().send(packet);
    }

    private List<String> filters(String clientId) {
        return subscriptions(clientId).map(each -> each.filter().value()).toList();
    }

    private List<String> options(String clientId) {
        return subscriptions(clientId)
                .map(each -> each.filter() + " " + each.maximumQos().level() + " " + each.noLocal() + " "
                        + each.retainAsPublished())
                .toList();
    }

    private Stream<Subscription> subscriptions(String clientId) {
        List<Subscription> all = new ArrayList<>();
        Objects.requireNonNull(bench.registry.find(clientId)).subscriptions().forEach(all::add);
        return all.stream();
    }
}
