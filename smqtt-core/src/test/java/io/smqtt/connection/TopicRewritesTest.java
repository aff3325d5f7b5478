// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import static io.smqtt.connection.ConnectionBench.publish;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.codec.mqtt.MqttMessage;
import io.netty.handler.codec.mqtt.MqttMessageBuilders;
import io.netty.handler.codec.mqtt.MqttQoS;
import io.netty.handler.codec.mqtt.MqttSubAckMessage;
import io.netty.handler.codec.mqtt.MqttVersion;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.TopicRewriteConfig;
import io.smqtt.config.TopicRewriteConfig.Action;
import io.smqtt.spi.AccessDecision;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Topics of clients that get another name. */
class TopicRewritesTest {

    /** The rules of the example in EMQX's manual. */
    private static final List<TopicRewriteConfig> MANUAL = List.of(
            TopicRewriteConfig.of("x/#", "^x/y/(.+)$", "z/y/$1"),
            TopicRewriteConfig.of("x/y/+", "^x/y/(\\d+)$", "z/y/x/$1"),
            TopicRewriteConfig.of("y/+/z/#", "^y/(.+)/z/(.+)$", "y/z/$2"));

    private final ConnectionBench bench = new ConnectionBench();
    private final Map<String, TopicRewriteConfig> rules = new LinkedHashMap<>();

    @AfterEach
    void close() {
        bench.close();
    }

    @ParameterizedTest
    @CsvSource({
        "y/a/z/b, y/z/b", // found by the expression
        "y/def, y/def", // the source does not match
        "x/1/2, x/1/2", // the expression finds nothing
        "x/y/2, z/y/x/2", // two sources match: the last rule decides
        "x/y/z, x/y/z", // the last rule decides, and its expression finds nothing
        "x/y/a/b, z/y/a/b",
    })
    void aTopicGetsTheNameOfTheLastRuleThatFits(String topic, String expected) {
        MANUAL.forEach(this::rule);
        connect("c", null);

        bench.send(subscribe(topic));
        assertThat(filters("c")).containsExactly(expected);

        bench.send(publish(topic, "m", 0, 0));
        assertThat(bench.answers()).last().isEqualTo("PUBLISH " + expected + " m");

        bench.send(MqttMessageBuilders.unsubscribe()
                .messageId(9)
                .addTopicFilter(topic)
                .build());
        assertThat(filters("c")).isEmpty();
    }

    @Test
    void aRuleIsForMessagesOrForSubscriptions() {
        rule(new TopicRewriteConfig(Action.PUBLISH, "a/#", "^a/(.*)$", "published/$1"));
        rule(new TopicRewriteConfig(Action.SUBSCRIBE, "a/#", "^a/(.*)$", "subscribed/$1"));
        connect("c", null);

        bench.send(subscribe("a/b"));
        assertThat(filters("c")).containsExactly("subscribed/b");
        bench.send(subscribe("published/b"));
        bench.send(publish("a/b", "m", 0, 0));
        assertThat(bench.answers()).last().isEqualTo("PUBLISH published/b m");
    }

    @Test
    void aNewNameIsNotRewrittenAgain() {
        rule(TopicRewriteConfig.of("b/#", "^b/(.*)$", "a/$1"));
        rule(TopicRewriteConfig.of("a/#", "^a/(.*)$", "b/$1"));
        connect("c", null);

        bench.send(subscribe("a/1"));
        bench.send(subscribe("b/2"));
        assertThat(filters("c")).containsExactlyInAnyOrder("b/1", "a/2");
    }

    @Test
    void rulesThatChangeWhileClientsAreConnectedTakePrecedenceFromTheNextPacketOn() {
        rule(TopicRewriteConfig.of("a/#", "^a/(.*)$", "fixed/$1"));
        connect("c", null);
        bench.send(subscribe("#"));
        bench.send(publish("a/b", "m", 0, 0));
        assertThat(bench.answers()).last().isEqualTo("PUBLISH fixed/b m");

        bench.topicRules.rewrites(List.of(TopicRewriteConfig.of("a/#", "^a/(.*)$", "changed/$1")));
        bench.send(publish("a/b", "m", 0, 0));
        assertThat(bench.answers()).last().isEqualTo("PUBLISH changed/b m");

        bench.topicRules.rewrites(List.of());
        bench.send(publish("a/b", "m", 0, 0));
        assertThat(bench.answers()).last().isEqualTo("PUBLISH fixed/b m");
    }

    @Test
    void aFilterWithWildcardsIsRewrittenIfTheSourceCoversIt() {
        rule(TopicRewriteConfig.of("old/+/state", "^old/(.+)/state$", "new/$1/state"));
        connect("c", null);

        bench.send(subscribe("old/+/state"));
        bench.send(subscribe("old/#"));
        bench.send(subscribe("$share/g/old/1/state"));
        assertThat(filters("c")).containsExactlyInAnyOrder("new/+/state", "old/#", "$share/g/new/1/state");
    }

    @Test
    void placeholdersStandForTheNamesOfTheClient() {
        rule(TopicRewriteConfig.of("me/#", "^me/(.*)$", "clients/${clientid}/${username}/$1"));
        connect("c", "u");

        bench.send(subscribe("me/+/x"));
        bench.send(publish("me/1/x", "m", 0, 0));
        assertThat(bench.answers()).last().isEqualTo("PUBLISH clients/c/u/1/x m");
    }

    @Test
    void aNameThatCannotBePartOfATopicIsRefused() {
        rule(TopicRewriteConfig.of("me/#", "^me/(.*)$", "clients/${clientid}/$1"));
        connect("+", null);

        bench.send(subscribe("me/x"));
        assertThat(subAckReasons()).containsExactly(0x8F);
        assertThat(filters("+")).isEmpty();
        bench.send(publish("me/x", "m", 1, 5));
        assertThat(bench.answers()).last().isEqualTo("PUBACK 5 90");
        bench.send(publish("other", "m", 1, 6));
        assertThat(bench.answers()).last().isEqualTo("PUBACK 6 10");
    }

    @Test
    void theWillHasTheNewName() {
        rule(TopicRewriteConfig.of("me/#", "^me/(.*)$", "clients/${clientid}/$1"));
        List<String> asked = new ArrayList<>();
        bench.authorizer = request -> {
            asked.add(request.topic());
            return AccessDecision.ALLOW.now();
        };
        open();
        bench.send(MqttMessageBuilders.connect()
                .clientId("c")
                .protocolVersion(MqttVersion.MQTT_5)
                .willFlag(true)
                .willTopic("me/will")
                .willMessage("w".getBytes(StandardCharsets.UTF_8))
                .build());

        assertThat(asked).as("the access rules see the new name").containsExactly("clients/c/will");
    }

    @Test
    void aWillWithoutAValidNameIsRefused() {
        rule(TopicRewriteConfig.of("me/#", "^me/(.*)$", "users/${username}/$1"));
        open();
        bench.send(MqttMessageBuilders.connect()
                .clientId("c")
                .protocolVersion(MqttVersion.MQTT_5)
                .willFlag(true)
                .willTopic("me/will")
                .willMessage("w".getBytes(StandardCharsets.UTF_8))
                .build());

        assertThat(bench.answers()).containsExactly("CONNACK CONNECTION_REFUSED_TOPIC_NAME_INVALID");
    }

    @Test
    void accessRulesSeeTheNewName() {
        rule(TopicRewriteConfig.of("open/#", "^open/(.*)$", "secret/$1"));
        bench.authorizer =
                request -> (request.topic().startsWith("secret/") ? AccessDecision.DENY : AccessDecision.ALLOW).now();
        connect("c", null);

        bench.send(subscribe("open/x"));
        assertThat(subAckReasons()).containsExactly(0x87);
        bench.send(publish("open/x", "m", 1, 5));
        assertThat(bench.answers()).last().isEqualTo("PUBACK 5 87");
    }

    /** Linear in the length of the topic, where a backtracking engine would not end. */
    @Test
    void aHostileTopicCostsNoMoreThanItsLength() {
        rule(TopicRewriteConfig.of("#", "^(a+)+$", "b"));
        connect("c", null);

        bench.send(subscribe("#"));
        String topic = "a".repeat(3_000) + "!";
        bench.send(publish(topic, "m", 0, 0));
        assertThat(bench.answers()).last().isEqualTo("PUBLISH " + topic + " m");
    }

    @ParameterizedTest
    @CsvSource({
        "a/#/b, x, y, source-topic",
        "$share/g/a, x, y, source-topic",
        "a, (x, y, re",
        "a, ((x{900}){900}){900}, y, re",
        "a, x, y/$1, dest-topic",
        "a, x, y/${host}, dest-topic",
        "a, x, y/#, dest-topic",
        "a, x, $share/g/y, dest-topic",
    })
    void aWrongRuleIsNamed(String source, String expression, String destination, String key) {
        assertThatThrownBy(() -> TopicRewriteConfig.of(source, expression, destination))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("topic-rewrites.<name>." + key);
    }

    private void rule(TopicRewriteConfig rule) {
        rules.put("r" + rules.size(), rule);
    }

    private void open() {
        bench.config = bench.config.toBuilder().topicRewrites(rules).build();
        bench.open();
    }

    private void connect(String clientId, String userName) {
        open();
        MqttMessageBuilders.ConnectBuilder connect = MqttMessageBuilders.connect()
                .clientId(clientId)
                .cleanSession(true)
                .protocolVersion(MqttVersion.MQTT_5);
        if (userName != null) {
            connect.hasUser(true).username(userName);
        }
        bench.send(connect.build());
    }

    private static MqttMessage subscribe(String filter) {
        return MqttMessageBuilders.subscribe()
                .messageId(1)
                .addSubscription(MqttQoS.AT_MOST_ONCE, filter)
                .build();
    }

    private List<Integer> subAckReasons() {
        List<Integer> reasons = new ArrayList<>();
        for (MqttMessage packet : bench.received()) {
            if (packet instanceof MqttSubAckMessage subAck) {
                reasons.addAll(subAck.payload().reasonCodes());
            }
        }
        return reasons;
    }

    private List<String> filters(String clientId) {
        List<String> all = new ArrayList<>();
        Objects.requireNonNull(bench.registry.find(clientId))
                .subscriptions()
                .forEach(each -> all.add(
                        each.shareName() == null
                                ? each.filter().value()
                                : "$share/" + each.shareName() + "/"
                                        + each.filter().value()));
        return all;
    }
}
