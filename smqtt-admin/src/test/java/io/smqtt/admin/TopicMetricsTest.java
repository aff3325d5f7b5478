// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.admin.ApiBroker.Reply;
import io.smqtt.test.RawClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages of chosen topics are counted, in and out, by their QoS. */
class TopicMetricsTest extends ApiBrokerCase {

    private static final String PATH = "/mqtt/topic_metrics";

    private Reply add(String topic) {
        return api.post(PATH, "{\"topic\":\"" + topic + "\"}");
    }

    private JsonNode metrics(String topic) {
        return api.get(PATH + "/" + topic.replace("/", "%2F").replace("#", "%23"))
                .json()
                .path("metrics");
    }

    @Test
    void whatIsPublishedAndDeliveredIsCounted() {
        assertThat(add("t/#").json().path("topic").asText()).isEqualTo("t/#");
        assertThat(add("t/1").status()).isEqualTo(200);
        RawClient first = api.client("first");
        first.subscribe("t/1", 0);
        api.client("second").subscribe("+/1", 2);
        api.client("third").subscribe("$share/g/t/1", 2);
        RawClient publisher = api.client("p");

        publisher.publish("t/1", "x", 1);
        publisher.publish("t/2", "x", 2);
        publisher.publish("other", "x", 0);
        first.expectPublish("t/1", "x");

        JsonNode all = metrics("t/#");
        assertThat(all.path("messages.in.count").asInt()).isEqualTo(2);
        assertThat(all.path("messages.qos1.in.count").asInt()).isEqualTo(1);
        assertThat(all.path("messages.qos2.in.count").asInt()).isEqualTo(1);
        assertThat(all.path("messages.out.count").asInt()).isEqualTo(3);
        assertThat(all.path("messages.qos0.out.count").asInt()).isEqualTo(1);
        assertThat(all.path("messages.qos1.out.count").asInt()).isEqualTo(2);
        assertThat(all.path("messages.dropped.count").asInt()).isEqualTo(1);
        assertThat(metrics("t/1").path("messages.in.count").asInt()).isEqualTo(1);
        assertThat(metrics("t/1").path("messages.dropped.count").asInt()).isZero();
        await().untilAsserted(() ->
                assertThat(metrics("t/#").path("messages.in.rate").asDouble()).isPositive());
        assertThat(api.get(PATH).json()).hasSize(2);
        assertThat(api.get("/subscriptions").json().path("data")).hasSize(3);
    }

    @Test
    void countsAreResetAndEnd() {
        add("t");
        RawClient publisher = api.client("p");
        publisher.publish("t", "x", 1);
        assertThat(metrics("t").path("messages.in.count").asInt()).isEqualTo(1);

        assertThat(api.send("PUT", PATH, "{\"action\":\"reset\",\"topic\":\"t\"}")
                        .status())
                .isEqualTo(204);

        assertThat(metrics("t").path("messages.in.count").asInt()).isZero();
        assertThat(api.delete(PATH + "/t").status()).isEqualTo(204);
        assertThat(api.get(PATH + "/t").status()).isEqualTo(404);
        assertThat(api.delete(PATH + "/t").status()).isEqualTo(404);
        publisher.publish("t", "x", 1);
        assertThat(api.get(PATH).json()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a/#/b", "$share/g/a"})
    void whatIsNoTopicIsRefused(String topic) {
        assertThat(add(topic).status()).isEqualTo(400);
    }

    @Test
    void aTopicIsThereOnceAndThereAreAtMost512() {
        assertThat(add("t").status()).isEqualTo(200);
        assertThat(add("t").json().path("code").asText()).isEqualTo("ALREADY_EXISTS");
        for (int i = 1; i < 512; i++) {
            assertThat(add("t/" + i).status()).isEqualTo(200);
        }
        Reply refused = add("one/more");
        assertThat(refused.status()).isEqualTo(409);
        assertThat(refused.json().path("code").asText()).isEqualTo("EXCEED_LIMIT");
    }
}
