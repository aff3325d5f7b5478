// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The REST API of two real nodes: each shows and steers both. */
@Tag("long")
class ApiClusterIT {

    private static final Duration PATIENCE = LoopbackCluster.PATIENCE;

    /** The deadline of the product is 2 s; the rest is for a machine that is much slower. */
    private static final Duration SOON = Duration.ofSeconds(20);

    private static final int NEAR = 7;
    private static final int FAR = 8;
    private static final int RETAINED = 5;
    private static final List<String> LISTS = List.of("/clients", "/subscriptions", "/topics");

    @TempDir
    Path directory;

    private final List<RawClient> clients = new ArrayList<>();
    private LoopbackCluster nodes;
    private RestApi first;
    private RestApi second;

    @BeforeEach
    void start() throws IOException {
        nodes = LoopbackCluster.start(directory, 2);
        first = api(0);
        second = api(1);
        for (int i = 0; i < NEAR + FAR; i++) {
            RawClient client = nodes.client(i < NEAR ? 0 : 1, "client-" + i);
            clients.add(client);
            client.subscribe("own/" + i, 1);
        }
        for (int i = 0; i < RETAINED; i++) {
            clients.get(0)
                    .publish(PublishBytes.to("state/first/" + i)
                            .payload("x")
                            .qos(1)
                            .retained());
            clients.get(NEAR)
                    .publish(PublishBytes.to("state/second/" + i)
                            .payload("x")
                            .qos(1)
                            .retained());
        }
    }

    private RestApi api(int node) throws IOException {
        String token = Files.readString(directory.resolve("n" + node + "/data/management.token"));
        return RestApi.of(nodes.broker(node)).token(token);
    }

    @AfterEach
    void stop() {
        clients.forEach(RawClient::close);
        if (nodes != null) {
            nodes.close();
        }
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static List<String> entries(JsonNode part) {
        List<String> all = new ArrayList<>();
        part.path("data")
                .forEach(row -> all.add(
                        row.path("node").asText() + " " + row.path("clientid").asText() + " "
                                + row.path("topic").asText()));
        return all;
    }

    private static List<String> byPage(RestApi api, String path, int limit) {
        List<String> all = new ArrayList<>();
        for (int page = 1; ; page++) {
            JsonNode part = api.get(path + "?limit=" + limit + "&page=" + page).json();
            List<String> entries = entries(part);
            assertThat(entries).hasSizeLessThanOrEqualTo(limit);
            assertThat(part.has("incomplete")).isFalse();
            all.addAll(entries);
            if (!part.path("meta").path("hasnext").asBoolean()) {
                return all;
            }
        }
    }

    private static List<String> byCursor(RestApi api, String path, int limit) {
        List<String> all = new ArrayList<>();
        String cursor = "";
        do {
            JsonNode part = api.get(path + "?limit=" + limit + "&cursor=" + encoded(cursor))
                    .json();
            assertThat(entries(part)).hasSizeLessThanOrEqualTo(limit);
            all.addAll(entries(part));
            assertThat(part.path("meta").path("hasnext").asBoolean())
                    .isEqualTo(part.path("meta").has("cursor"));
            cursor = part.path("meta").path("cursor").asText("");
        } while (!cursor.isEmpty());
        return all;
    }

    private static Set<String> both(String format) {
        Set<String> all = new TreeSet<>();
        for (int i = 0; i < NEAR + FAR; i++) {
            all.add(format.formatted(i < NEAR ? "n0" : "n1", i));
        }
        return all;
    }

    @Test
    void answersOfAccessBackendsAreForgottenOnAllNodesOrOnOne() {
        assertThat(first.delete("/authentication/cache").json())
                .hasToString("{\"data\":[{\"node\":\"n0\",\"cleared\":0},{\"node\":\"n1\",\"cleared\":0}]}");
        assertThat(first.delete("/authentication/cache?node=n1").json())
                .hasToString("{\"data\":[{\"node\":\"n1\",\"cleared\":0}]}");
        assertThat(first.delete("/authentication/cache?node=other").status()).isEqualTo(404);
    }

    @Test
    void aLevelOfALoggerIsSetOnAllNodesOrOnOne() {
        String path = "/loggers/io.smqtt.admin";
        assertThat(first.post(path, "{\"configuredLevel\":\"DEBUG\"}").json())
                .hasToString("{\"nodes\":[\"n0\",\"n1\"]}");
        assertThat(second.get(path).text()).contains("DEBUG");
        assertThat(first.get(path + "?node=n1").text()).contains("DEBUG");

        assertThat(first.post(path + "?node=n1", "{\"configuredLevel\":\"WARN\"}")
                        .json())
                .hasToString("{\"nodes\":[\"n1\"]}");
        assertThat(second.get(path).text()).contains("WARN");
        assertThat(first.get(path).text()).contains("DEBUG");
    }

    @Test
    void aSharedGroupHasARowForEachNodeWithMembers() {
        clients.get(0).subscribe("$share/workers/jobs", 1);
        clients.get(1).subscribe("$share/workers/jobs", 1);
        clients.get(NEAR).subscribe("$share/workers/jobs", 1);

        for (RestApi api : List.of(first, second)) {
            JsonNode groups = api.get("/shared_groups?share_group=workers").json();
            assertThat(groups.path("data").findValuesAsText("members")).containsExactly("2", "1");
            assertThat(new TreeSet<>(groups.path("data").findValuesAsText("node")))
                    .hasSize(2);
            assertThat(groups.has("incomplete")).isFalse();
        }
    }

    @Test
    void bothNodesListBothByPageAndByCursor() {
        List<Set<String>> expected =
                List.of(both("%s client-%d "), both("%s client-%2$d own/%2$d"), both("%s  own/%d"));
        for (RestApi api : List.of(first, second)) {
            for (int i = 0; i < LISTS.size(); i++) {
                String path = LISTS.get(i);
                for (int limit : new int[] {1, 4, NEAR, NEAR + FAR, 10_000}) {
                    assertThat(byPage(api, path, limit))
                            .as("%s by pages of %d", path, limit)
                            .containsExactlyInAnyOrderElementsOf(expected.get(i));
                    assertThat(byCursor(api, path, limit))
                            .as("%s by cursor and %d", path, limit)
                            .containsExactlyInAnyOrderElementsOf(expected.get(i));
                }
            }
            assertThat(api.get("/clients?limit=4&page=3")
                            .json()
                            .path("meta")
                            .path("count")
                            .asInt())
                    .isEqualTo(NEAR + FAR);
            assertThat(entries(api.get("/clients?node=n1&limit=1000").json())).hasSize(FAR);
            assertThat(entries(api.get("/clients?like_clientid=client-1").json()))
                    .hasSize(6); // 1 and 10 to 14
            assertThat(entries(api.get("/subscriptions?match_topic=own/12").json()))
                    .containsExactly("n1 client-12 own/12");
            assertThat(api.get("/topics/own%2F3").json().path(0).path("node").asText())
                    .isEqualTo("n0");
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(byPage(api, "/mqtt/retainer/messages", 3))
                            .hasSize(2 * RETAINED));
            assertThat(api.get("/mqtt/retainer/message/state%2Ffirst%2F0").status())
                    .isEqualTo(200);
        }
    }

    @Test
    void aClientOfTheOtherNodeIsSeenSteeredAndKicked() {
        RawClient far = clients.get(NEAR);
        String path = "/clients/client-" + NEAR;
        assertThat(first.get(path).json().path("node").asText()).isEqualTo("n1");
        assertThat(first.get(path + "/subscriptions").json().findValuesAsText("topic"))
                .containsExactly("own/" + NEAR);

        RestApi.Reply subscribed = first.post(path + "/subscribe", "{\"topic\":\"news\",\"qos\":1}");
        assertThat(subscribed.status()).as(subscribed.text()).isEqualTo(200);
        await().atMost(PATIENCE)
                .until(() -> first.post("/publish", "{\"topic\":\"news\",\"qos\":1,\"payload\":\"hello\"}")
                                .status()
                        == 200);
        far.expectPublish("news", "hello");

        assertThat(first.delete(path).status()).isEqualTo(204);
        far.expect(MqttMessageType.DISCONNECT);
        assertThat(second.get(path).status()).isEqualTo(404);
        assertThat(first.get(path).status()).isEqualTo(404);
        assertThat(first.delete(path).status()).isEqualTo(404);

        String several = "[\"client-0\",\"client-" + (NEAR + 1) + "\",\"nobody\"]";
        assertThat(second.post("/clients/kickout/bulk", several).status()).isEqualTo(204);
        assertThat(byCursor(first, "/clients", 100)).hasSize(NEAR + FAR - 3);
    }

    @Test
    void usersKeysAndRulesForTopicsOfOneNodeAreThoseOfTheOther() {
        topicsAreRewrittenAtTheOtherNode();
        String anna = "{\"username\":\"anna\",\"password\":\"correct-horse-1\",\"role\":\"viewer\"}";
        assertThat(first.post("/users", anna).status()).isEqualTo(200);
        JsonNode key = second.post("/api_key", "{\"name\":\"exporter\",\"role\":\"viewer\"}")
                .json();
        String login = "{\"username\":\"anna\",\"password\":\"correct-horse-1\"}";
        RestApi stranger = RestApi.of(nodes.broker(1));
        await().atMost(PATIENCE).until(() -> second.get("/users").text().contains("\"anna\""));
        RestApi.Reply token = stranger.post("/login", login);
        assertThat(token.status()).as(token.text()).isEqualTo(200);
        RestApi viewer = stranger.token(token.json().path("token").asText());
        assertThat(viewer.get("/clients").status()).isEqualTo(200);
        assertThat(viewer.delete("/clients/client-0").status()).isEqualTo(403);
        RestApi elsewhere =
                RestApi.of(nodes.broker(0)).token(token.json().path("token").asText());
        assertThat(elsewhere.get("/clients").status())
                .as("a login of the other node")
                .isEqualTo(200);

        RestApi exporter = RestApi.of(nodes.broker(0))
                .key(key.path("api_key").asText(), key.path("api_secret").asText());
        await().atMost(PATIENCE).until(() -> exporter.get("/stats").status() == 200);

        assertThat(first.delete("/users/anna").status()).isEqualTo(204);
        assertThat(first.delete("/api_key/exporter").status()).isEqualTo(204);
        await().atMost(PATIENCE).until(() -> viewer.get("/clients").status() == 401);
        RestApi there = RestApi.of(nodes.broker(1))
                .key(key.path("api_key").asText(), key.path("api_secret").asText());
        await().atMost(PATIENCE).until(() -> there.get("/stats").status() == 401);
        assertThat(stranger.post("/login", login).status()).isEqualTo(401);
    }

    private void topicsAreRewrittenAtTheOtherNode() {
        String rules =
                "[{\"action\":\"all\",\"source_topic\":\"old/#\",\"re\":\"^old/(.+)$\",\"dest_topic\":\"new/$1\"}]";
        assertThat(first.send("PUT", "/mqtt/topic_rewrite", rules).status()).isEqualTo(200);
        await().atMost(PATIENCE)
                .until(() -> second.get("/mqtt/topic_rewrite").text().equals(rules));
        RawClient far = clients.get(NEAR);
        far.subscribe("old/x", 0);
        assertThat(second.get("/clients/client-" + NEAR + "/subscriptions")
                        .json()
                        .findValuesAsText("topic"))
                .contains("new/x");
        far.unsubscribe("old/x");
        assertThat(second.send("PUT", "/mqtt/topic_rewrite", "[]").status()).isEqualTo(200);
        await().atMost(PATIENCE)
                .until(() -> first.get("/mqtt/topic_rewrite").text().equals("[]"));
    }

    @Test
    void aNodeThatIsStoppedIsNamedAndTheOtherAnswersForItself() {
        nodes.broker(1).signal("STOP");
        try {
            for (String path : LISTS) {
                for (String part : List.of("?limit=100", "?limit=4&page=2", "?limit=100&cursor=")) {
                    RestApi.Reply reply = first.get(path + part);
                    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
                    assertThat(reply.took()).as("%s%s took", path, part).isLessThan(SOON);
                    assertThat(entries(reply.json()))
                            .as("%s%s", path, part)
                            .isNotEmpty()
                            .allMatch(entry -> entry.startsWith("n0 "));
                    assertThat(reply.json().path("incomplete").toString()).isEqualTo("[\"n1\"]");
                }
            }
            assertThat(first.get("/clients/client-0").status()).isEqualTo(200);
            RestApi.Reply unknown = first.get("/clients/client-" + NEAR);
            assertThat(unknown.status()).as(unknown.text()).isEqualTo(503);
            assertThat(unknown.took()).isLessThan(SOON);
            assertThat(first.get("/nodes/n1").status()).isEqualTo(503);
            assertThat(first.get("/nodes").json().path(1).path("node_status").asText())
                    .isEqualTo("stopped");
        } finally {
            nodes.broker(1).signal("CONT");
        }
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(byPage(first, "/clients", 100)).hasSize(NEAR + FAR));
        assertThat(byPage(second, "/clients", 100)).hasSize(NEAR + FAR);
        assertThat(first.get("/clients/client-" + NEAR).status()).isEqualTo(200);
    }
}
