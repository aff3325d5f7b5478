// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.admin.ApiBroker.Reply;
import io.smqtt.test.RawClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Traces of a running broker, started and read by the API. */
class TraceRoutesTest {

    @TempDir
    Path directory;

    private ApiBroker api;

    @BeforeEach
    void start() {
        api = new ApiBroker(directory);
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private void trace(String fields) {
        Reply reply = api.post("/trace", "{\"name\":\"one\"," + fields + "}");

        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        await().until(() -> api.get("/trace/one/log_detail").json().size() == 1);
    }

    private List<String> lines(Predicate<String> complete) {
        await().until(() ->
                complete.test(api.get("/trace/one/download?format=text").text()));
        return api.get("/trace/one/download?format=text").text().lines().toList();
    }

    private static List<String> events(List<String> lines) {
        return lines.stream().map(line -> line.split(" ", 4)[2]).toList();
    }

    @Test
    void aClientIsTracedFromItsConnectToItsEnd() {
        trace("\"type\":\"clientid\",\"clientid\":\"c1\",\"payload_encode\":\"text\"");

        RawClient client = api.client("c1");
        client.subscribe("a/#", 1);
        api.post("/publish", "{\"topic\":\"a/b\",\"payload\":\"to it\",\"qos\":0}");
        client.receive();
        client.close();

        List<String> lines = lines(text -> text.contains("DISCONNECTED"));
        assertThat(events(lines))
                .containsSubsequence(
                        "CONNECT_RECEIVED",
                        "CONNACK_SENT",
                        "SUBSCRIBE_RECEIVED",
                        "SUBACK_SENT",
                        "PUBLISH_SENT",
                        "DISCONNECTED");
        assertThat(lines).allMatch(line -> line.contains(" clientid=c1"));
        assertThat(lines)
                .anyMatch(line -> line.contains("PUBLISH_SENT")
                        && line.contains("topic=a/b")
                        && line.contains("payload=\"to it\""));
    }

    @Test
    void messagesOfATopicAreTracedForAllClients() {
        trace("\"type\":\"topic\",\"topic\":\"a/+\"");

        RawClient client = api.client("c1");
        client.subscribe("a/b", 0);
        api.post("/publish", "{\"topic\":\"other\",\"payload\":\"x\"}");
        api.post("/publish", "{\"topic\":\"a/b\",\"payload\":\"secret\"}");

        List<String> lines = lines(text -> text.contains("PUBLISH_SENT"));
        assertThat(events(lines)).contains("SUBSCRIBE_RECEIVED", "ROUTED", "PUBLISH_SENT");
        assertThat(lines).noneMatch(line -> line.contains("other") || line.contains("secret"));
        assertThat(lines).anyMatch(line -> line.contains("matches=1"));
    }

    @Test
    void anAddressIsTracedAsJson() {
        trace("\"type\":\"ip_address\",\"ip_address\":\"127.0.0.1\",\"formatter\":\"json\"");

        api.client("c\u2028\n\"2").close();

        List<String> lines = lines(text -> text.contains("DISCONNECTED"));
        assertThat(lines).allMatch(line -> line.startsWith("{\"time\":\"") && line.endsWith("}"));
        assertThat(lines.get(0)).contains("c\\u2028\\n\\\"2");
    }

    @Test
    void aTraceIsListedStoppedAndDeleted() {
        trace("\"type\":\"clientid\",\"clientid\":\"c1\"");
        JsonNode listed = api.get("/trace").json().get(0);

        assertThat(listed.path("status").asText()).isEqualTo("running");
        assertThat(listed.path("clientid").asText()).isEqualTo("c1");
        assertThat(listed.path("log_size").size()).isEqualTo(1);

        assertThat(api.send("PUT", "/trace/one/stop", null).status()).isEqualTo(200);
        assertThat(api.get("/trace/one").json().path("status").asText()).isEqualTo("stopped");
        api.client("c1");

        assertThat(api.delete("/trace/one").status()).isEqualTo(204);
        assertThat(api.get("/trace/one").status()).isEqualTo(404);
        assertThat(api.get("/trace").json().size()).isZero();
    }

    @Test
    void partsOfTheLogFollowEachOther() {
        trace("\"type\":\"clientid\",\"clientid\":\"c1\"");
        api.client("c1").close();
        String all = String.join("\n", lines(text -> text.contains("DISCONNECTED"))) + "\n";

        StringBuilder parts = new StringBuilder();
        long position = 0;
        while (parts.length() < all.length()) {
            JsonNode part =
                    api.get("/trace/one/log?bytes=400&position=" + position).json();
            assertThat(part.path("items").asText()).endsWith("\n");
            parts.append(part.path("items").asText());
            position = part.path("meta").path("position").asLong();
        }

        assertThat(parts.toString()).isEqualTo(all);
    }

    @Test
    void linesAreStreamedUntilTheTraceEnds() {
        trace("\"type\":\"clientid\",\"clientid\":\"c1\"");
        api.client("c1").close();
        List<String> lines = lines(text -> text.contains("DISCONNECTED"));
        api.send("PUT", "/trace/one/stop", null);

        Reply stream = api.get("/trace/one/stream");

        assertThat(stream.type()).startsWith("text/event-stream");
        assertThat(stream.text()).contains(lines.get(0).replace("\"", "\\\""), "\"skipped_bytes\":0");
        assertThat(stream.text()).endsWith("event: end\ndata: {}\n\n");
    }

    @Test
    void aReaderThatIsFarBehindSkips() {
        trace("\"type\":\"topic\",\"topic\":\"a\",\"payload_encode\":\"text\",\"payload_limit\":65536");
        String payload = "x".repeat(50_000);
        for (int i = 0; i < 8; i++) {
            api.post("/publish", "{\"topic\":\"a\",\"payload\":\"" + payload + "\"}");
        }
        lines(text -> text.lines().count() == 8);
        api.send("PUT", "/trace/one/stop", null);

        String stream = api.get("/trace/one/stream").text();

        assertThat(stream).containsPattern("\"skipped_bytes\":[1-9]").endsWith("event: end\ndata: {}\n\n");
        assertThat(stream.split(" ROUTED ", -1).length - 1).isBetween(1, 7);
    }

    @Test
    void aDownloadIsReadWhileItIsTaken() throws IOException {
        trace("\"type\":\"topic\",\"topic\":\"a\",\"payload_encode\":\"text\",\"payload_limit\":65536");
        String payload = "x".repeat(50_000); // longer than a part
        for (int i = 0; i < 4; i++) {
            api.post("/publish", "{\"topic\":\"a\",\"payload\":\"" + payload + "\"}");
        }
        List<String> lines = lines(text -> text.lines().count() == 4);

        assertThat(lines).allMatch(line -> line.contains(payload));
        try (ZipInputStream zip = new ZipInputStream(new ByteArrayInputStream(api.bytes("/trace/one/download")))) {
            assertThat(zip.getNextEntry())
                    .isNotNull()
                    .extracting(ZipEntry::getName)
                    .isEqualTo("smqtt-trace_one.log");
            assertThat(new String(zip.readAllBytes(), StandardCharsets.UTF_8).lines())
                    .isEqualTo(lines);
            assertThat(zip.getNextEntry()).isNull();
        }
    }

    @Test
    void whatCannotBeTracedIsRefused() {
        trace("\"type\":\"clientid\",\"clientid\":\"c1\"");

        assertThat(refusal("{\"name\":\"one\",\"type\":\"topic\",\"topic\":\"a\"}"))
                .isEqualTo("409 ALREADY_EXISTS");
        assertThat(refusal("{\"name\":\"two\",\"type\":\"clientid\",\"clientid\":\"c1\"}"))
                .isEqualTo("409 DUPLICATE_CONDITION");
        assertThat(refusal("{\"name\":\"../x\",\"type\":\"clientid\",\"clientid\":\"c2\"}"))
                .isEqualTo("400 BAD_REQUEST");
        assertThat(refusal("{\"name\":\"two\",\"type\":\"topic\",\"topic\":\"a/#/b\"}"))
                .isEqualTo("400 BAD_REQUEST");
        assertThat(refusal("{\"name\":\"two\",\"type\":\"ip_address\",\"ip_address\":\"localhost\"}"))
                .isEqualTo("400 BAD_REQUEST");
        assertThat(refusal("{\"name\":\"two\",\"type\":\"topic\",\"topic\":\"a\",\"end_at\":1}"))
                .isEqualTo("400 BAD_REQUEST");
        assertThat(refusal("{\"name\":\"two\",\"type\":\"topic\",\"topic\":\"a\",\"end_at\":\"2099-01-01T00:00:00Z\"}"))
                .isEqualTo("400 BAD_REQUEST");
    }

    private String refusal(String body) {
        Reply reply = api.post("/trace", body);
        return reply.status() + " " + reply.json().path("code").asText();
    }

    @Test
    void thereAreAtMostThirtyTraces() {
        for (int i = 0; i < 30; i++) {
            Reply reply =
                    api.post("/trace", "{\"name\":\"t" + i + "\",\"type\":\"clientid\",\"clientid\":\"c" + i + "\"}");
            assertThat(reply.status()).isEqualTo(200);
        }

        assertThat(refusal("{\"name\":\"more\",\"type\":\"clientid\",\"clientid\":\"x\"}"))
                .isEqualTo("409 EXCEED_LIMIT");
        assertThat(api.delete("/trace").status()).isEqualTo(204);
    }
}
