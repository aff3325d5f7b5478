// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.admin.ApiBroker.Reply;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Messages that are published later are listed in the order of their time, shown and cancelled. */
class DelayedRoutesTest {

    private static final String LIST = "/mqtt/delayed/messages";

    @TempDir
    Path directory;

    private ApiBroker api;
    private RawClient publisher;

    @BeforeEach
    void start() {
        api = new ApiBroker(directory);
        publisher = api.client("p");
    }

    @AfterEach
    void close() {
        api.close();
    }

    private void delay(int seconds, String topic) {
        publisher
                .send(PublishBytes.to("$delayed/" + seconds + "/" + topic)
                        .payload("of " + topic)
                        .qos(1, seconds))
                .expect(MqttMessageType.PUBACK);
    }

    private static List<String> topics(JsonNode page) {
        List<String> all = new ArrayList<>();
        page.path("data").forEach(row -> all.add(row.path("topic").asText()));
        return all;
    }

    @Test
    void theLimitsAreThoseOfTheConfiguration() {
        JsonNode status = api.get("/mqtt/delayed").json();

        assertThat(status.path("enable").asBoolean()).isTrue();
        assertThat(status.path("max_delayed_messages").asInt()).isEqualTo(100_000);
        assertThat(status.path("max_delay").asLong()).isEqualTo(4_294_967);
    }

    @Test
    void settingsAreChangedWhileClientsAreConnected() {
        delay(300, "a");
        assertThat(api.send("PUT", "/mqtt/delayed", "{\"max_delayed_messages\":1}")
                        .json()
                        .path("max_delayed_messages")
                        .asInt())
                .isEqualTo(1);
        publisher.send(PublishBytes.to("$delayed/10/b").qos(1, 1));
        assertThat(publisher.expect(MqttMessageType.PUBACK).reasonCode()).isEqualTo(0x97);

        api.send("PUT", "/mqtt/delayed", "{\"enable\":false}");
        publisher.send(PublishBytes.to("$delayed/10/b").qos(1, 2));
        assertThat(publisher.expect(MqttMessageType.PUBACK).reasonCode()).isEqualTo(0x10);
        assertThat(api.get("/mqtt/delayed").json().path("max_delayed_messages").asInt())
                .as("a field that is missing stays")
                .isEqualTo(1);

        Reply reset = api.send("PUT", "/mqtt/delayed", "{\"enable\":null,\"max_delayed_messages\":null}");
        assertThat(reset.status()).as(reset.text()).isEqualTo(200);
        assertThat(reset.json().path("max_delayed_messages").asInt()).isEqualTo(100_000);
        delay(10, "b");
        assertThat(topics(api.get(LIST).json())).containsExactly("b", "a");
    }

    @Test
    void wrongSettingsAreRefused() {
        assertThat(api.send("PUT", "/mqtt/delayed", "{\"enable\":1}").status()).isEqualTo(400);
        assertThat(api.send("PUT", "/mqtt/delayed", "{\"max_delayed_messages\":0}")
                        .status())
                .isEqualTo(400);
    }

    @Test
    void aPageHasTheMessagesThatAreDueFirst() {
        delay(300, "c");
        delay(100, "a");
        delay(200, "b");

        JsonNode first = api.get(LIST + "?limit=2").json();

        assertThat(topics(first)).containsExactly("a", "b");
        assertThat(first.path("meta").path("count").asInt()).isEqualTo(3);
        assertThat(first.path("meta").path("hasnext").asBoolean()).isTrue();
        assertThat(topics(api.get(LIST + "?limit=2&page=2").json())).containsExactly("c");
        JsonNode row = first.path("data").path(0);
        assertThat(row.path("node").asText()).isEqualTo("smqtt");
        assertThat(row.path("from_clientid").asText()).isEqualTo("p");
        assertThat(row.path("delayed_interval").asInt()).isEqualTo(100);
        assertThat(row.path("delayed_remaining").asInt()).isBetween(1, 100);
        Instant accepted = Instant.parse(row.path("publish_at").asText());
        assertThat(Instant.parse(row.path("expected_at").asText())).isEqualTo(accepted.plusSeconds(100));
        assertThat(Duration.between(accepted, Instant.now())).isBetween(Duration.ofSeconds(-1), Duration.ofMinutes(1));
        assertThat(row.has("payload")).isFalse();
        assertThat(api.get(LIST + "?cursor=").status()).isEqualTo(400);
        assertThat(api.get(LIST + "?node=none").status()).isEqualTo(404);
    }

    @Test
    void aCancelledMessageIsNotPublished() {
        RawClient subscriber = api.client("s");
        subscriber.subscribe("#", 1);
        delay(4, "second");
        delay(3, "first");
        JsonNode row = api.get(LIST).json().path("data").path(0);
        String path = LIST + "/smqtt/" + row.path("msgid").asText();
        assertThat(api.get(path).json().path("payload").asText()).isEqualTo("b2YgZmlyc3Q=");

        assertThat(api.delete(path).status()).isEqualTo(204);

        Reply gone = api.delete(path);
        assertThat(gone.status()).isEqualTo(404);
        assertThat(gone.json().path("code").asText()).isEqualTo("MESSAGE_ID_NOT_FOUND");
        assertThat(api.get(path).status()).isEqualTo(404);
        assertThat(topics(api.get(LIST).json())).containsExactly("second");
        subscriber.pubAck(subscriber.expectPublish("second", "of second"));
    }

    @Test
    void anIdentifierOfAnotherFormIsRefused() {
        Reply wrong = api.delete(LIST + "/smqtt/abc");

        assertThat(wrong.status()).isEqualTo(400);
        assertThat(wrong.json().path("code").asText()).isEqualTo("MESSAGE_ID_SCHEMA_ERROR");
        assertThat(api.get(LIST + "/nowhere/0123456789abcdef").status()).isEqualTo(404);
    }
}
