// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.admin.ApiBroker.Reply;
import io.smqtt.spi.PeerQueries;
import io.smqtt.spi.SampleCluster;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** Lists of a node n1 whose peer n2 answers, and whose peer n"3, the first by name, does not. */
class ListsInClusterTest {

    private static final String SILENT = "n\"3";
    private static final String TWO_ROWS =
            "{\"answer\":{\"total\":2,\"last\":\"5\",\"more\":false,\"rows\":[{\"clientid\":\"far-1\"},{\"clientid\":\"far-2\"}]}}";

    @TempDir
    Path directory;

    private final Map<String, String> asked = new ConcurrentHashMap<>(); // the last question to each node
    private String answer = TWO_ROWS;
    private boolean knownToBeSilent = true; // the deadline of questions to it is over at once
    private ApiBroker node;

    private final PeerQueries peers = new PeerQueries() {

        @Override
        public void answer(String name, Function<byte[], Mono<byte[]>> answers) {
            assertThat(name).isEqualTo("management");
        }

        @Override
        public Mono<byte[]> ask(String peer, String name, byte[] question, Duration deadline) {
            asked.put(peer, new String(question, StandardCharsets.UTF_8));
            return peer.equals(SILENT)
                    ? Mono.<byte[]>never().timeout(knownToBeSilent ? Duration.ZERO : deadline)
                    : Mono.just(answer.getBytes(StandardCharsets.UTF_8));
        }
    };

    @BeforeEach
    void start() {
        node = new ApiBroker(directory, new ManagedBroker.Cluster(SampleCluster.three(), peers));
        node.client("near-1");
        node.client("near-2");
    }

    @AfterEach
    void stop() {
        node.close();
    }

    private static List<String> clients(JsonNode part) {
        return part.path("data").findValuesAsText("clientid");
    }

    private static List<String> incomplete(JsonNode part) {
        List<String> names = new ArrayList<>();
        part.path("incomplete").forEach(name -> names.add(name.asText()));
        return names;
    }

    @Test
    void aPageHasWhatTheOthersAnswer() {
        JsonNode page = node.get("/clients").json();

        assertThat(clients(page)).containsExactlyInAnyOrder("near-1", "near-2", "far-1", "far-2");
        assertThat(page.path("meta").path("count").asInt()).isEqualTo(4);
        assertThat(incomplete(page)).containsExactly(SILENT);
    }

    @Test
    void aNodeThatDoesNotAnswerLeavesTheOthersTimeForALaterPage() {
        knownToBeSilent = false;
        JsonNode page = node.get("/clients?page=2&limit=2").json();

        assertThat(clients(page)).containsExactly("far-1", "far-2");
        assertThat(incomplete(page)).containsExactly(SILENT);
    }

    @Test
    void aWalkByCursorReachesTheNodesAfterOneThatDoesNotAnswer() {
        knownToBeSilent = false;
        List<String> found = new ArrayList<>();
        List<String> silent = new ArrayList<>();
        String cursor = "";
        do {
            JsonNode part = node.get("/clients?limit=3&cursor=" + URLEncoder.encode(cursor, StandardCharsets.UTF_8))
                    .json();
            found.addAll(clients(part));
            silent.addAll(incomplete(part));
            cursor = part.path("meta").path("cursor").asText("");
        } while (!cursor.isEmpty());

        assertThat(found).containsExactlyInAnyOrder("near-1", "near-2", "far-1", "far-2");
        assertThat(silent).containsExactly(SILENT);
    }

    @Test
    @Timeout(30)
    void manyClientsAreKickedInTheTimeOfOneAndASilentNodeIsNamed() {
        knownToBeSilent = false;
        String several =
                IntStream.range(0, 100).mapToObj(i -> "\"near-" + i + '"').collect(Collectors.joining(",", "[", "]"));

        Reply reply = node.post("/clients/kickout/bulk", several);

        assertThat(reply.status()).isEqualTo(503);
        assertThat(reply.json().path("message").asText()).contains(SILENT);
        assertThat(clients(node.get("/clients?node=n1").json())).isEmpty();
    }

    @Test
    void theFiguresOfAllNodesAreAdded() {
        answer =
                "{\"answer\":{\"time_stamp\":9,\"live_connections\":5,\"received_msg_rate\":7,\"cpu\":0.5,\"node_uptime\":1000000,"
                        + "\"dropped_by_reason\":{\"offline\":{\"total\":3,\"rate\":1.5}}}}";

        JsonNode sum = node.get("/monitor_current").json();

        assertThat(sum.path("live_connections").asInt()).isEqualTo(7);
        assertThat(sum.path("received_msg_rate").isIntegralNumber()).isTrue();
        assertThat(sum.path("node_uptime").asInt()).isEqualTo(1_000_000);
        assertThat(sum.path("dropped_by_reason").path("offline").path("total").asInt())
                .isEqualTo(3);
        assertThat(incomplete(sum)).containsExactly(SILENT);
        assertThat(node.get("/monitor_current/nodes/n2")
                        .json()
                        .path("live_connections")
                        .asInt())
                .isEqualTo(5);
        assertThat(node.get("/monitor_current/nodes/n%223").status()).isEqualTo(503);
        assertThat(node.get("/monitor_current/nodes/n4").status()).isEqualTo(404);
    }

    @Test
    void aLoginOfAnotherNodeIsValidHereUntilItEnds() throws NoSuchAlgorithmException {
        node.post("/users", "{\"username\":\"anna\",\"password\":\"correct-horse-1\",\"role\":\"viewer\"}");
        Matcher hash = Pattern.compile("\\$7\\$[^\"]+")
                .matcher(node.post("/data/export", "").text());
        assertThat(hash.find()).isTrue();
        answer = "{\"answer\":{\"user\":\"anna\",\"password\":\"" + hash.group() + "\"}}";
        String token = "random." + tag("n2");

        assertThat(node.status("GET", "/login", token)).isEqualTo(200);
        assertThat(asked.remove("n2")).contains("login.find").doesNotContain("random");
        assertThat(node.status("DELETE", "/clients/near-1", token)).isEqualTo(403);
        assertThat(asked).as("for a while it is known").doesNotContainKey("n2");
        assertThat(node.status("POST", "/logout", token)).isEqualTo(204);
        assertThat(asked.get("n2")).contains("login.end");

        answer = "{}";
        assertThat(node.status("GET", "/login", token)).isEqualTo(401);
        assertThat(node.status("GET", "/login", "random." + tag(SILENT))).isEqualTo(401);
        assertThat(node.status("GET", "/login", "random." + tag("n4"))).isEqualTo(401);
    }

    private static String tag(String name) throws NoSuchAlgorithmException {
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().formatHex(hash, 0, 4);
    }

    /** An open page of a node asks the others once a second, and nobody does without one. */
    @Test
    void theStreamHasTheFiguresOfAllNodesWhileItIsRead() {
        answer = "{\"answer\":{\"live_connections\":5,\"received_msg_rate\":7.5}}";
        JsonNode event;
        try (Stream<String> lines = node.lines("/stream?topics=cluster")) {
            event = ApiBroker.json(lines.filter(line -> line.startsWith("data:"))
                    .findFirst()
                    .orElseThrow()
                    .substring("data:".length()));
        }

        assertThat(event.path("sum").path("live_connections").asInt()).isEqualTo(7);
        assertThat(event.path("sum").path("received_msg_rate").asDouble()).isEqualTo(7.5);
        assertThat(event.path("nodes").path("n1").path("live_connections").asInt())
                .isEqualTo(2);
        assertThat(event.path("nodes").path("n2").path("live_connections").asInt())
                .isEqualTo(5);
        assertThat(incomplete(event)).containsExactly(SILENT);
        await().pollInterval(Duration.ofMillis(1_500)).until(() -> asked.remove("n2") == null);
    }

    /** A line without a time that can be read, as a later version may have it, is left out. */
    @Test
    void theAuditOfAllNodesIsInTheOrderOfTime() {
        assertThat(node.post("/publish", "{}").status()).isEqualTo(400);
        answer = "{\"answer\":{\"count\":5,\"rows\":["
                + "{\"node\":\"n2\",\"created_at\":\"2999-01-01T00:00:00Z\",\"operation_id\":\"/later\"},"
                + "{\"node\":\"n2\",\"created_at\":\"tomorrow\"},{\"node\":\"n2\"},7,"
                + "{\"node\":\"n2\",\"created_at\":\"2000-01-01T00:00:00Z\",\"operation_id\":\"/earlier\"}]}}";

        JsonNode page = node.get("/audit").json();

        assertThat(page.path("data").findValuesAsText("node")).containsExactly("n2", "n1", "n2");
        assertThat(page.path("data").path(0).path("operation_id").asText()).isEqualTo("/later");
        assertThat(page.path("meta").path("count").asInt()).isEqualTo(3);
        assertThat(incomplete(page)).containsExactly(SILENT);
    }

    @Test
    void aLevelOfALoggerIsSetOnAllNodesAndShownOfOne() {
        answer = "{\"answer\":{\"effectiveLevel\":\"ERROR\"}}";
        String path = "/loggers/io.smqtt.test.Lists";

        JsonNode all = node.post(path, "{\"configuredLevel\":\"ERROR\"}").json();
        assertThat(all.path("nodes").toString()).isEqualTo("[\"n1\",\"n2\"]");
        assertThat(incomplete(all)).containsExactly(SILENT);
        assertThat(asked.get("n2")).contains("logger.set", "ERROR");
        assertThat(asked).doesNotContainKey("n1");
        assertThat(node.get(path).json().path("configuredLevel").asText()).isEqualTo("ERROR");
        assertThat(node.get(path + "?node=n2").json().has("configuredLevel")).isFalse();

        assertThat(node.post(path + "?node=n1", "{\"configuredLevel\":null}").json())
                .hasToString("{\"nodes\":[\"n1\"]}");
        assertThat(asked.get("n2")).contains("logger.show");
        assertThat(node.post(path + "?node=n%223", "{}").status()).isEqualTo(503);
        assertThat(node.post(path + "?node=n4", "{}").status()).isEqualTo(404);
    }

    @Test
    void theHistoryOfAnotherNodeIsRead() {
        answer = "{\"answer\":{\"rows\":[{\"time_stamp\":70000,\"interval\":10,\"received\":3}]}}";

        assertThat(node.get("/monitor?latest=60")
                        .json()
                        .path(0)
                        .path("received")
                        .asInt())
                .isEqualTo(3);
        assertThat(node.get("/monitor/nodes/n2").json()).hasSize(1);
        assertThat(node.get("/monitor/nodes/n1").json()).isEmpty();
    }

    /** What a later version may answer to a question that this one asks. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "\u0000\u0001",
                "[]",
                "{\"problem\":{\"status\":500,\"code\":\"INTERNAL_ERROR\",\"message\":\"failed\"}}",
                "{\"problem\":{\"status\":700}}",
                "{\"problem\":\"unknown call\"}",
                "{\"answer\":[]}",
                "{\"answer\":{\"rows\":[],\"more\":true,\"last\":\"at the end\"}}"
            })
    void anAnswerThatCannotBeReadIsNone(String unknown) {
        answer = unknown;

        for (String path : List.of("/clients?cursor=&limit=1000", "/clients?node=n2&cursor=")) {
            Reply reply = node.get(path);
            assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        }
        JsonNode alone = node.get("/clients?node=n2&cursor=").json();
        assertThat(clients(alone)).isEmpty();
        assertThat(incomplete(alone)).containsExactly("n2");
    }

    @Test
    void anAnswerWithFurtherFieldsIsRead() {
        answer = TWO_ROWS.replace("{\"answer\":", "{\"format\":9,\"answer\":")
                .replace("\"total\"", "\"new\":[],\"total\"");

        assertThat(clients(node.get("/clients?node=n2").json())).containsExactly("far-1", "far-2");
    }
}
