// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.admin.ApiBroker.Reply;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.RawClient;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the API shows of a running broker, and does to it. */
class BrokerApiTest extends ApiBrokerCase {

    private static Set<String> clientIds(JsonNode list) {
        Set<String> all = new TreeSet<>();
        list.path("data").forEach(one -> all.add(one.path("clientid").asText()));
        return all;
    }

    @Test
    void aClientIsListedWithItsFields() {
        RawClient client = api.lasting("first");
        client.subscribe("a/#", 1);

        JsonNode list = api.get("/clients").json();

        assertThat(list.path("meta").path("count").asInt()).isEqualTo(1);
        assertThat(list.path("meta").path("hasnext").asBoolean()).isFalse();
        JsonNode row = list.path("data").path(0);
        assertThat(row).isEqualTo(api.get("/clients/first").json());
        assertThat(row.path("node").asText()).isEqualTo("smqtt");
        assertThat(row.path("connected").asBoolean()).isTrue();
        assertThat(row.path("proto_ver").asInt()).isEqualTo(5);
        assertThat(row.path("ip_address").asText()).isEqualTo("127.0.0.1");
        assertThat(row.path("expiry_interval").asLong()).isEqualTo(3_600);
        assertThat(row.path("subscriptions_cnt").asInt()).isEqualTo(1);
        assertThat(row.path("clean_start").asBoolean()).isFalse();
        assertThat(row.path("connected_at").asText()).startsWith("20").endsWith("Z");
    }

    @Test
    void pagesAndCursorsReachEachClientOnce() {
        for (int i = 0; i < 7; i++) {
            api.client("c" + i);
        }

        Set<String> byPage = new TreeSet<>();
        for (int page = 1; page <= 3; page++) {
            JsonNode list = api.get("/clients?limit=3&page=" + page).json();
            assertThat(list.path("meta").path("count").asInt()).isEqualTo(7);
            assertThat(list.path("meta").path("hasnext").asBoolean()).isEqualTo(page < 3);
            byPage.addAll(clientIds(list));
        }
        assertThat(byPage).hasSize(7);

        Set<String> byCursor = new TreeSet<>();
        String cursor = "";
        int answers = 0;
        do {
            JsonNode list = api.get("/clients?limit=3&cursor=" + cursor).json();
            byCursor.addAll(clientIds(list));
            cursor = list.path("meta").path("cursor").asText();
            answers++;
        } while (!cursor.isEmpty());
        assertThat(byCursor).hasSize(7);
        assertThat(answers).isLessThanOrEqualTo(4);
    }

    /** Identifiers of 30 KiB whose characters take six bytes as JSON: 48 of them have more than 8 MiB. */
    @Test
    void aListHasAtMost8MebibytesAndACursorReachesTheRest() {
        String filler = "\u0007".repeat(30_000);
        for (int i = 0; i < 60; i++) {
            api.client(i + filler);
        }

        Reply page = api.get("/clients?limit=10000");
        assertThat(page.text().length()).isLessThan(BrokerView.MAX_BYTES);
        assertThat(page.json().path("meta").path("truncated").asBoolean()).isTrue();
        assertThat(page.json().path("meta").path("count").asInt()).isEqualTo(60);
        assertThat(page.json().path("meta").path("hasnext").asBoolean()).isTrue();
        JsonNode first = api.get("/clients?limit=10000&cursor=").json();
        Set<String> byCursor = clientIds(first);
        assertThat(byCursor).hasSizeLessThan(60);
        byCursor.addAll(clientIds(api.get("/clients?limit=10000&cursor="
                        + first.path("meta").path("cursor").asText())
                .json()));
        assertThat(byCursor).hasSize(60);
        assertThat(api.get("/clients?limit=10").text()).doesNotContain("truncated");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"topic\":\"a\",\"payload\":\"x\"} {}", "{\"topic\":\"a\",\"payload\":\"x\"}]"})
    void aBodyIsOneDocument(String body) {
        assertThat(api.post("/publish", body).text()).contains("the body is no JSON");
    }

    @Test
    void aBodyHasLimitedElements() {
        String body = "[" + "{},".repeat(300_000) + "{}]";

        assertThat(api.post("/publish/bulk", body).text()).contains("too many elements");
    }

    @Test
    void clientsAreSelected() {
        api.client("alpha");
        api.lasting("beta").disconnect();
        RawClient gamma = api.lasting("gamma");
        gamma.subscribe("q", 1);
        gamma.abort();
        assertThat(api.post("/publish", "{\"topic\":\"q\",\"qos\":1,\"payload\":\"x\"}")
                        .status())
                .isEqualTo(200);

        assertThat(clientIds(api.get("/clients?like_clientid=a").json())).containsExactly("alpha", "beta", "gamma");
        assertThat(clientIds(api.get("/clients?clientid=alpha&clientid=beta").json()))
                .containsExactly("alpha", "beta");
        assertThat(clientIds(api.get("/clients?conn_state=connected").json())).containsExactly("alpha");
        assertThat(clientIds(api.get("/clients?gte_mqueue_len=1").json())).containsExactly("gamma");
        assertThat(clientIds(api.get("/clients?gte_connected_at=2020-01-01T00:00:00Z")
                        .json()))
                .containsExactly("alpha");
        assertThat(clientIds(api.get("/clients?proto_ver=4").json())).isEmpty();
        assertThat(clientIds(api.get("/clients?node=smqtt&ip_address=127.0.0.1").json()))
                .contains("alpha");
        assertThat(api.get("/clients?fields=clientid,connected&clientid=alpha").text())
                .contains("[{\"clientid\":\"alpha\",\"connected\":true}]");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/clients?limit=0",
                "/clients?limit=10001",
                "/clients?page=0",
                "/clients?cursor=x",
                "/clients?conn_state=asleep",
                "/clients?clean_start=yes",
                "/clients?gte_connected_at=yesterday",
                "/subscriptions?match_topic=a/%23",
                "/subscriptions?qos=3",
                "/explain",
                "/explain?topic=a/%23",
                "/mqtt/retainer/messages?topic=a/%23/b"
            })
    void aParameterThatCannotBeUsedIsNamed(String path) {
        Reply answer = api.get(path);

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.type()).isEqualTo("application/problem+json");
    }

    @Test
    void whatDoesNotExistIsMissing() {
        assertThat(api.get("/clients/none").json().path("code").asText()).isEqualTo("CLIENTID_NOT_FOUND");
        assertThat(api.delete("/clients/none").status()).isEqualTo(404);
        assertThat(api.get("/clients/none/subscriptions").status()).isEqualTo(404);
        assertThat(api.get("/clients?node=none").status()).isEqualTo(404);
        assertThat(api.get("/nodes/none").status()).isEqualTo(404);
        assertThat(api.get("/listeners/tcp:none").status()).isEqualTo(404);
        assertThat(api.get("/topics/none").status()).isEqualTo(404);
        assertThat(api.get("/mqtt/retainer/message/none").status()).isEqualTo(404);
    }

    @Test
    void kickingEndsConnectionAndSession() {
        RawClient first = api.lasting("first");
        RawClient second = api.lasting("second");
        RawClient third = api.lasting("third");

        assertThat(api.delete("/clients/first").status()).isEqualTo(204);
        first.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
        assertThat(api.get("/clients/first").status()).isEqualTo(404);

        assertThat(api.delete("/clients/second?keep_session=true").status()).isEqualTo(204);
        second.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
        second.expectClosed();
        assertThat(api.get("/clients/second").status()).isEqualTo(200);

        assertThat(api.post("/clients/kickout/bulk", "[\"second\",\"third\",\"none\"]")
                        .status())
                .isEqualTo(204);
        third.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
        assertThat(clientIds(api.get("/clients").json())).isEmpty();
    }

    @Test
    void clientsAreSubscribedAndUnsubscribed() {
        RawClient client = api.client("one");
        assertThat(api.post("/publish", "{\"topic\":\"kept\",\"payload\":\"before\",\"retain\":true}")
                        .status())
                .isEqualTo(202);

        JsonNode made = api.post("/clients/one/subscribe", "{\"topic\":\"kept\",\"qos\":1}")
                .json();
        assertThat(made.path("clientid").asText()).isEqualTo("one");
        assertThat(made.path("qos").asInt()).isEqualTo(1);
        client.expectPublish("kept", "before");
        assertThat(api.post("/clients/one/subscribe/bulk", "[{\"topic\":\"x/+\"},{\"topic\":\"$share/g/y\",\"qos\":2}]")
                        .json())
                .hasSize(2);

        assertThat(api.get("/clients/one/subscriptions").json()).hasSize(3);
        assertThat(api.get("/subscriptions?match_topic=x/1").json().path("data"))
                .hasSize(1);
        assertThat(api.get("/subscriptions?share_group=g").text()).contains("$share/g/y");
        assertThat(api.get("/topics").json().path("meta").path("count").asInt()).isEqualTo(3);
        assertThat(api.get("/topics/x%2F+").status()).isEqualTo(200);

        assertThat(api.post("/clients/one/unsubscribe", "{\"topic\":\"kept\"}").status())
                .isEqualTo(204);
        assertThat(api.post("/clients/one/unsubscribe/bulk", "[{\"topic\":\"$share/g/y\"},{\"topic\":\"none\"}]")
                        .status())
                .isEqualTo(204);
        assertThat(api.get("/clients/one/subscriptions").json()).hasSize(1);
    }

    @Test
    void aSharedGroupShowsItsMembersAndWhatWaitsForThem() {
        RawClient absent = api.lasting("absent");
        absent.subscribe("$share/workers/jobs/#", 1);
        absent.abort();
        api.lasting("other").subscribe("$share/others/jobs/#", 1);
        await().until(() ->
                clientIds(api.get("/clients?conn_state=disconnected").json()).contains("absent"));
        String message = "{\"topic\":\"jobs/1\",\"qos\":1,\"payload\":\"x\"}";
        assertThat(api.post("/publish/bulk", "[" + message + "," + message + "]")
                        .status())
                .isEqualTo(200);

        JsonNode row = group("workers");
        assertThat(row.path("node").asText()).isEqualTo("smqtt");
        assertThat(row.path("topic").asText()).isEqualTo("jobs/#");
        assertThat(row.path("members").asInt()).isEqualTo(1);
        assertThat(row.path("members_online").asInt()).isZero();
        assertThat(row.path("mqueue_len").asInt()).isEqualTo(2);
        assertThat(row.path("mqueue_bytes").asInt()).isPositive();
        Duration age = Duration.between(Instant.parse(row.path("waiting_since").asText()), Instant.now());
        assertThat(age).isBetween(Duration.ofSeconds(-1), Duration.ofMinutes(1));
        assertThat(group("others").path("members_inflight").asInt()).isEqualTo(2);
        assertThat(api.get("/shared_groups").json().path("data")).hasSize(2);
        assertThat(api.get("/shared_groups?topic=none").json().path("data")).isEmpty();

        RawClient present = api.client("present");
        present.subscribe("$share/workers/jobs/#", 1);
        present.pubAck(present.expectPublish("jobs/1", "x"));
        present.pubAck(present.expectPublish("jobs/1", "x"));

        await().untilAsserted(() -> {
            JsonNode taken = group("workers");
            assertThat(taken.path("members").asInt()).isEqualTo(2);
            assertThat(taken.path("members_online").asInt()).isEqualTo(1);
            assertThat(taken.path("mqueue_len").asInt()).isZero();
            assertThat(taken.has("waiting_since")).isFalse();
        });
    }

    private JsonNode group(String name) {
        JsonNode rows = api.get("/shared_groups?share_group=" + name).json().path("data");
        assertThat(rows).hasSize(1);
        return rows.path(0);
    }

    @Test
    void aWrongSubscriptionIsRefused() {
        api.client("one");

        assertThat(api.post("/clients/one/subscribe", "{\"topic\":\"a/#/b\"}").status())
                .isEqualTo(400);
        assertThat(api.post("/clients/one/subscribe", "{\"topic\":\"$share/g/a\",\"nl\":1}")
                        .status())
                .isEqualTo(400);
        assertThat(api.post("/clients/one/subscribe", "{\"topic\":\"a\",\"qos\":3}")
                        .status())
                .isEqualTo(400);
        assertThat(api.post("/clients/none/subscribe", "{\"topic\":\"a\"}").status())
                .isEqualTo(404);
    }

    @Test
    void messagesThatWaitAreShown() {
        RawClient client = api.lasting("one");
        client.subscribe("q", 1);
        client.abort();
        api.post("/publish", "{\"topic\":\"q\",\"qos\":1,\"payload\":\"aGk=\",\"payload_encoding\":\"base64\"}");

        JsonNode queued = api.get("/clients/one/mqueue_messages?payload=plain").json();
        assertThat(queued.path("data").path(0).path("payload").asText()).isEqualTo("hi");
        assertThat(queued.path("data").path(0).path("topic").asText()).isEqualTo("q");
        assertThat(api.get("/clients/one/inflight_messages").json().path("data"))
                .isEmpty();

        RawClient again = api.client("two");
        again.subscribe("r", 1);
        api.post("/publish", "{\"topic\":\"r\",\"qos\":1,\"payload\":\"hi\"}");
        again.expectPublish("r", "hi");
        JsonNode inFlight = api.get("/clients/two/inflight_messages").json();
        assertThat(inFlight.path("data").path(0).path("payload").asText()).isEqualTo("aGk=");
        assertThat(inFlight.path("data").path(0).path("packet_id").asInt()).isEqualTo(1);
    }

    @Test
    void aMessageOfQos0ForAClientThatIsOfflineIsNoError() {
        RawClient absent = api.lasting("absent");
        absent.subscribe("q", 1);
        absent.abort();
        await().until(() -> !api.get("/clients/absent").json().path("connected").asBoolean());

        Reply reply = api.post("/publish", "{\"topic\":\"q\",\"payload\":\"hi\"}");

        assertThat(reply.status()).isEqualTo(202);
        assertThat(reply.json().path("reason_code").asInt()).isEqualTo(16);
    }

    @Test
    void publishingTellsWhetherSomebodyReceives() {
        RawClient client = api.client("one");
        client.subscribe("t", 2);

        Reply taken = api.post(
                "/publish",
                "{\"topic\":\"t\",\"payload\":\"hi\",\"properties\":{\"content_type\":\"x\","
                        + "\"user_properties\":{\"a\":\"b\"},\"message_expiry_interval\":60}}");
        assertThat(taken.status()).isEqualTo(200);
        assertThat(taken.json().path("id").asText()).hasSize(32);
        client.expectPublish("t", "hi");

        Reply none = api.post("/publish", "{\"topic\":\"none\",\"payload\":\"hi\"}");
        assertThat(none.status()).isEqualTo(202);
        assertThat(none.json().path("reason_code").asInt()).isEqualTo(16);

        Reply several = api.post(
                "/publish/bulk", "[{\"topic\":\"t\",\"payload\":\"1\"},{\"topic\":\"none\",\"payload\":\"2\"}]");
        assertThat(several.status()).isEqualTo(202);
        assertThat(several.json()).hasSize(2);
        client.expectPublish("t", "1");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"topic\":\"a/#\",\"payload\":\"\"}",
                "{\"topic\":\"\",\"payload\":\"\"}",
                "{\"topic\":\"$smqtt/object/user/admin\",\"payload\":\"\"}",
                "{\"topic\":\"$SYS/broker/version\",\"payload\":\"1\",\"retain\":true}",
                "{\"topic\":\"t\"}",
                "{\"topic\":\"t\",\"payload\":\"!\",\"payload_encoding\":\"base64\"}",
                "{\"topic\":\"t\",\"payload\":\"\",\"payload_encoding\":\"hex\"}",
                "{\"topic\":\"t\",\"payload\":\"\",\"qos\":3}",
                "{\"topic\":\"t\",\"payload\":\"\",\"properties\":{\"user_properties\":{\"a\":1}}}",
                "{\"topic\":\"t\",\"payload\":\"\",\"properties\":{\"content_type\":\"\\u0000\"}}",
                "[]",
                "x"
            })
    void aMessageThatCannotBePublishedIsRefused(String body) {
        assertThat(api.post("/publish", body).status()).isEqualTo(400);
    }

    @Test
    void retainedMessagesAreListedAndRemoved() {
        for (String topic : new String[] {"a/1", "a/2", "b/1", "$smqtt/object/ban/x"}) {
            api.broker()
                    .broker
                    .publish(io.smqtt.message.ApplicationMessage.builder(topic)
                            .payload("p")
                            .retain(true)
                            .build())
                    .block();
        }

        JsonNode page = api.get("/mqtt/retainer/messages?limit=2").json();
        assertThat(page.path("data")).hasSize(2);
        assertThat(page.path("meta").path("hasnext").asBoolean()).isTrue();
        assertThat(api.get("/mqtt/retainer/messages?topic=a/%2B").json().path("data"))
                .hasSize(2);
        assertThat(api.get("/mqtt/retainer/messages?topic=%24smqtt/%23").json().path("data"))
                .isEmpty();
        assertThat(api.get("/mqtt/retainer/message/%24smqtt%2Fobject%2Fban%2Fx").status())
                .isEqualTo(404);
        assertThat(api.get("/mqtt/retainer/message/a%2F1")
                        .json()
                        .path("payload")
                        .asText())
                .isEqualTo("cA==");

        assertThat(api.delete("/mqtt/retainer/message/a%2F1").status()).isEqualTo(204);
        assertThat(api.get("/mqtt/retainer/message/a%2F1").status()).isEqualTo(404);
        assertThat(api.delete("/mqtt/retainer/messages?topic=b/%23").status()).isEqualTo(204);
        assertThat(api.get("/mqtt/retainer/messages").json().path("data")).hasSize(1);
        assertThat(api.delete("/mqtt/retainer/messages?topic=%24smqtt/%23").status())
                .isEqualTo(204);
    }

    @Test
    void listenersStopAndStart() {
        RawClient client = api.client("one");
        JsonNode before = api.get("/listeners/tcp:tcp").json();
        assertThat(before.path("status").path("running").asBoolean()).isTrue();
        assertThat(before.path("status").path("current_connections").asInt()).isEqualTo(1);

        assertThat(api.post("/listeners/tcp:tcp/stop", "").status()).isEqualTo(200);
        client.expectClosed();
        assertThat(api.get("/listeners")
                        .json()
                        .path(0)
                        .path("status")
                        .path("running")
                        .asBoolean())
                .isFalse();
        assertThat(api.post("/listeners/tcp:tcp/start", "").status()).isEqualTo(200);
        assertThat(api.post("/listeners/tcp:tcp/restart", "").status()).isEqualTo(200);
        api.client("two");
        assertThat(api.post("/listeners/tcp:other/stop", "").status()).isEqualTo(404);
    }

    @Test
    void figuresOfTheNodeAreShown() {
        api.client("one");

        assertThat(api.get("/nodes").json().path(0).path("live_connections").asInt())
                .isEqualTo(1);
        assertThat(api.get("/nodes/smqtt").json().path("node_status").asText()).isEqualTo("running");
        assertThat(api.get("/stats")
                        .json()
                        .path(0)
                        .path("live_connections.count")
                        .asInt())
                .isEqualTo(1);
        assertThat(api.get("/nodes/smqtt/stats").json().path("sessions.count").asInt())
                .isEqualTo(1);
        assertThat(api.get("/metrics?aggregate=true")
                        .json()
                        .path("packets.received")
                        .asInt())
                .isPositive();
        assertThat(api.get("/nodes/smqtt/metrics").json().has("messages.received"))
                .isTrue();
        assertThat(api.get("/cluster").json().path("self").asText()).isEqualTo("smqtt");
        assertThat(api.get("/prometheus/stats").text()).contains("smqtt_messages_received_total");
        assertThat(api.get("/explain?topic=a").json().path("receivers")).isEmpty();
    }

    @Test
    void consumersOfTheApplicationAreNotForOperators() {
        api.broker()
                .broker
                .subscribe("$share/g/#", io.smqtt.ConsumerOptions.DEFAULTS.durable("own"))
                .subscribe();

        assertThat(api.get("/clients").json().path("meta").path("count").asInt())
                .isZero();
        assertThat(api.delete("/clients/%24in-process%2Fown").status()).isEqualTo(404);
    }
}
