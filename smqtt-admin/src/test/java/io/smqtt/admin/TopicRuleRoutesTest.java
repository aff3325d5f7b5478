// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.admin.ApiBroker.Reply;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PublishBytes;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code /mqtt/topic_rewrite}, {@code /mqtt/auto_subscribe} and {@code /mqtt/retainer/policies}: rules that operators change while clients are connected. */
class TopicRuleRoutesTest extends ApiBrokerCase {

    private static final String REWRITES = "/mqtt/topic_rewrite";
    private static final String SUBSCRIPTIONS = "/mqtt/auto_subscribe";
    private static final String POLICIES = "/mqtt/retainer/policies";

    /** The rules of the example in EMQX's manual, as its API has them. */
    private static final String MANUAL =
            "[{\"action\":\"all\",\"source_topic\":\"x/#\",\"re\":\"^x/y/(.+)$\",\"dest_topic\":\"z/y/$1\"},"
                    + "{\"action\":\"all\",\"source_topic\":\"x/y/+\",\"re\":\"^x/y/(\\\\d+)$\",\"dest_topic\":\"z/y/x/$1\"}]";

    private static final int MESSAGE_EXPIRY = 0x02;

    private Reply put(String path, String body) {
        return api.send("PUT", path, body);
    }

    @Test
    void aConnectedClientPublishesByTheRulesOfNow() {
        assertThat(api.get(REWRITES).text()).isEqualTo("[]");
        RawClient subscriber = api.client("s");
        subscriber.subscribe("#", 0);
        RawClient publisher = api.client("p");
        publisher.publish("x/y/2", "before", 1);
        subscriber.expectPublish("x/y/2", "before");

        Reply made = put(REWRITES, MANUAL);
        assertThat(made.status()).as(made.text()).isEqualTo(200);
        assertThat(made.text()).isEqualTo(MANUAL);
        assertThat(api.get(REWRITES).text()).isEqualTo(MANUAL);
        publisher.publish("x/y/2", "with", 1);
        subscriber.expectPublish("z/y/x/2", "with");
        publisher.publish("x/y/a/b", "with", 1);
        subscriber.expectPublish("z/y/a/b", "with");

        assertThat(put(REWRITES, "[]").text()).isEqualTo("[]");
        publisher.publish("x/y/a/b", "after", 1);
        subscriber.expectPublish("x/y/a/b", "after");
    }

    @Test
    void subscriptionsAreRewrittenAndMadeByTheRulesOfNow() {
        put(
                REWRITES,
                "[{\"action\":\"subscribe\",\"source_topic\":\"old/#\",\"re\":\"^old/(.+)$\",\"dest_topic\":\"new/$1\"}]");
        String commands = "[{\"topic\":\"c/${clientid}\",\"qos\":1,\"nl\":0,\"rap\":0,\"rh\":0}]";
        assertThat(put(SUBSCRIPTIONS, commands).text()).isEqualTo(commands);
        RawClient subscriber = api.client("s");
        subscriber.subscribe("old/1", 0);
        RawClient publisher = api.client("p");

        publisher.publish("new/1", "x", 0);
        subscriber.expectPublish("new/1", "x");
        publisher.publish("c/s", "y", 1);
        assertThat(subscriber.expectPublish("c/s", "y").qos()).isEqualTo(1);

        put(SUBSCRIPTIONS, "[]");
        RawClient later = api.client("later");
        publisher.send(PublishBytes.to("c/later").qos(1, 9).payload("z"));
        assertThat(publisher.expect(MqttMessageType.PUBACK).reasonCode()).isEqualTo(0x10);
        later.expectNothing();
    }

    @Test
    void messagesAreRetainedByTheRulesOfNow() {
        RawClient publisher = api.client("p");
        assertThat(retain(publisher, "small/a", "12345")).isLessThan(0x80);

        String small = "[{\"topic\":\"small/#\",\"max_payload_size\":4,\"msg_expiry_interval\":60}]";
        assertThat(put(POLICIES, small).text()).isEqualTo(small);
        assertThat(retain(publisher, "small/b", "12345")).isEqualTo(0x97);
        assertThat(retain(publisher, "small/b", "1234")).isLessThan(0x80);
        RawClient subscriber = api.client("s");
        subscriber.subscribe("small/b", 0);
        ReceivedPacket kept = subscriber.expectPublish("small/b", "1234");
        assertThat(kept.number(MESSAGE_EXPIRY)).isBetween(1L, 60L);

        assertThat(put(POLICIES, "[]").text()).isEqualTo("[]");
        assertThat(retain(publisher, "small/b", "12345")).isLessThan(0x80);
        put(POLICIES, "[{\"topic\":\"a\"}]");
        assertThat(api.get(POLICIES).text())
                .isEqualTo("[{\"topic\":\"a\",\"max_payload_size\":268435456,\"msg_expiry_interval\":0}]");
    }

    private static int retain(RawClient client, String topic, String payload) {
        return client.send(PublishBytes.to(topic).payload(payload).retained().qos(1, 1))
                .expect(MqttMessageType.PUBACK)
                .reasonCode();
    }

    @Test
    void rulesAreExportedAndImported() {
        put(REWRITES, MANUAL);
        String all = "[{\"topic\":\"all\",\"qos\":2,\"nl\":1,\"rap\":1,\"rh\":2}]";
        put(SUBSCRIPTIONS, all);
        String file = api.post("/data/export", "").text();
        put(REWRITES, "[]");
        put(SUBSCRIPTIONS, "[]");

        assertThat(api.post("/data/import", file).status()).isEqualTo(200);

        assertThat(api.get(REWRITES).text()).isEqualTo(MANUAL);
        assertThat(api.get(SUBSCRIPTIONS).text()).isEqualTo(all);
        assertThat(api.get("/audit").text()).contains("/mqtt/topic_rewrite", "/mqtt/auto_subscribe");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "topic_rewrite | {\"action\":\"both\",\"source_topic\":\"a\",\"re\":\"x\",\"dest_topic\":\"y\"} | rule 1: the field action must be publish, subscribe or all",
                "topic_rewrite | {\"source_topic\":\"a/#/b\",\"re\":\"x\",\"dest_topic\":\"y\"} | rule 1: the field source_topic is no topic filter",
                "topic_rewrite | {\"source_topic\":\"a\",\"re\":\"(x\",\"dest_topic\":\"y\"} | rule 1: the field re is no regular expression",
                "topic_rewrite | {\"source_topic\":\"a\",\"re\":\"x\",\"dest_topic\":\"y/$1\"} | rule 1: the field dest_topic ",
                "topic_rewrite | {\"source_topic\":\"a\",\"re\":\"x\"} | rule 1: the field dest_topic is missing",
                "auto_subscribe | {\"topic\":\"a/#/b\"} | rule 1: the field topic is no topic filter",
                "auto_subscribe | {\"topic\":\"a/${nobody}\"} | rule 1: the field topic ",
                "auto_subscribe | {\"topic\":\"a\",\"qos\":3} | rule 1: the field qos must be 0 to 2",
                "auto_subscribe | {\"topic\":\"$share/g/a\",\"nl\":1} | rule 1: the field nl is not possible",
                "retainer/policies | {\"topic\":\"a/#/b\"} | rule 1: the field topic is no topic filter",
                "retainer/policies | {\"topic\":\"a\",\"max_payload_size\":-1} | rule 1: the field max_payload_size must be 0 to",
                "retainer/policies | {\"topic\":\"a\",\"msg_expiry_interval\":42949670} | rule 1: the field msg_expiry_interval must be 0 to",
            })
    void aWrongRuleIsNamedAndNothingChanges(String path, String rule, String problem) {
        Reply reply = put("/mqtt/" + path, "[" + rule + "]");
        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.json().path("message").asText()).startsWith(problem.strip());
        assertThat(api.get("/mqtt/" + path).text()).isEqualTo("[]");
    }

    @Test
    void thereAreAtMostAHundred() {
        String many = IntStream.range(0, 101)
                .mapToObj(i -> "{\"topic\":\"t/" + i + "\"}")
                .collect(Collectors.joining(",", "[", "]"));
        assertThat(put(SUBSCRIPTIONS, many).status()).isEqualTo(400);
    }
}
