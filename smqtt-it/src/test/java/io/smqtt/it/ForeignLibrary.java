// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A client library of another language, in a process that obeys one JSON object per line: {@code connect}, {@code subscribe},
 * {@code unsubscribe}, {@code publish}, {@code disconnect}, {@code cut}. Each is answered by a line with the same {@code id};
 * received messages come as lines with {@code link} and {@code message}. The programs are in {@code resources/interop}.
 */
final class ForeignLibrary implements ClientLibrary {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration START = Duration.ofSeconds(30);

    private final String name;
    private final Set<Integer> versions;
    private final CapturedProcess process;
    private final AtomicInteger ids = new AtomicInteger();
    private final Map<Integer, CompletableFuture<JsonNode>> answers = new ConcurrentHashMap<>();
    private final Map<Integer, Inbox> inboxes = new ConcurrentHashMap<>();

    private ForeignLibrary(String name, Set<Integer> versions, ProcessBuilder command) {
        this.name = name;
        this.versions = versions;
        this.process = CapturedProcess.start(name, command, this::read);
    }

    /** paho-mqtt on Python. */
    static ForeignLibrary python() {
        return start(
                "paho-mqtt (Python)",
                Set.of(3, 4, 5),
                installed("python/bin/python").toString(),
                source("/interop/python/agent.py").toString());
    }

    /** MQTT.js on Node.js. */
    static ForeignLibrary node() {
        return start(
                "MQTT.js",
                Set.of(3, 4, 5),
                ForeignProgram.path("node"),
                installed("node/agent.js").toString());
    }

    /** paho.golang, which speaks MQTT 5 only. */
    static ForeignLibrary go() {
        return start("paho.golang", Set.of(5), installed("go/agent").toString());
    }

    private static ForeignLibrary start(String name, Set<Integer> versions, String... command) {
        ForeignLibrary library = new ForeignLibrary(name, versions, new ProcessBuilder(command));
        library.process.awaitLine("being ready", line -> line.contains("\"ready\""), START);
        return library;
    }

    /** A file below the folder of the client libraries; an error names the script that installs them. */
    static Path installed(String file) {
        String cache = System.getenv().getOrDefault("XDG_CACHE_HOME", System.getProperty("user.home") + "/.cache");
        Path path = Path.of(cache, "smqtt-it").resolve(file);
        if (!Files.exists(path)) {
            throw ForeignProgram.missing("the client library " + path);
        }
        return path;
    }

    /** A file of the test's resources. */
    static Path source(String file) {
        try {
            return Path.of(java.util.Objects.requireNonNull(ForeignLibrary.class.getResource(file))
                    .toURI());
        } catch (java.net.URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private void read(String line) {
        if (!line.startsWith("{")) {
            return; // a warning of the language's run time
        }
        try {
            JsonNode node = JSON.readTree(line);
            if (node.has("message")) {
                inbox(node.get("link").asInt()).add(JSON.treeToValue(node.get("message"), Message.class));
            } else if (node.has("id")) {
                CompletableFuture<JsonNode> answer =
                        answers.remove(node.get("id").asInt());
                if (answer != null) {
                    answer.complete(node);
                }
            }
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("not understood: " + line, e);
        }
    }

    private Inbox inbox(int link) {
        return inboxes.computeIfAbsent(link, key -> new Inbox());
    }

    private JsonNode call(String operation, int link, ObjectNode request) throws Exception {
        int id = ids.incrementAndGet();
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        answers.put(id, answer);
        send(request.put("id", id).put("op", operation).put("link", link));
        JsonNode node;
        try {
            node = answer.get(20, TimeUnit.SECONDS);
        } catch (java.util.concurrent.TimeoutException e) {
            throw new AssertionError(name + " did not answer " + request + process.report(), e);
        }
        if (node.has("error")) {
            throw new AssertionError(
                    name + ": " + operation + " failed: " + node.get("error").asText());
        }
        return node;
    }

    private synchronized void send(ObjectNode request) throws IOException {
        OutputStream out = process.process().getOutputStream();
        out.write((JSON.writeValueAsString(request) + "\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Set<Integer> versions() {
        return versions;
    }

    @Override
    public boolean ordersUserProperties() {
        return !name.equals("MQTT.js"); // one list of values per name
    }

    @Override
    public ClientLink connect(ConnectRequest request) throws Exception {
        int link = ids.incrementAndGet();
        ObjectNode call = JSON.createObjectNode()
                .put("transport", request.endpoint().transport().listener())
                .put("host", Endpoint.HOST)
                .put("port", request.endpoint().port())
                .put("path", Endpoint.PATH)
                .put("ca", request.endpoint().authority().toString())
                .put("version", request.version())
                .put("clientId", request.clientId())
                .put("cleanStart", request.cleanStart())
                .put("sessionExpiry", request.sessionExpiry());
        call.set("will", JSON.valueToTree(request.will()));
        return new Link(link, call("connect", link, call).get("sessionPresent").asBoolean());
    }

    @Override
    public void close() {
        process.close();
    }

    private final class Link implements ClientLink {

        private final int link;
        private final boolean sessionPresent;

        private Link(int link, boolean sessionPresent) {
            this.link = link;
            this.sessionPresent = sessionPresent;
        }

        @Override
        public boolean sessionPresent() {
            return sessionPresent;
        }

        @Override
        public List<Integer> subscribe(List<String> filters, List<Integer> qos) throws Exception {
            ObjectNode call = JSON.createObjectNode();
            call.set("filters", JSON.valueToTree(filters));
            call.set("qos", JSON.valueToTree(qos));
            return codes(call("subscribe", link, call));
        }

        @Override
        public List<Integer> unsubscribe(String filter) throws Exception {
            return codes(call("unsubscribe", link, JSON.createObjectNode().put("filter", filter)));
        }

        private static List<Integer> codes(JsonNode answer) {
            return JSON.convertValue(
                    answer.get("codes"), JSON.getTypeFactory().constructCollectionType(List.class, Integer.class));
        }

        @Override
        public int publish(Message message) throws Exception {
            ObjectNode call = JSON.createObjectNode();
            call.set("message", JSON.valueToTree(message));
            return call("publish", link, call).get("code").asInt();
        }

        @Override
        public Message next() throws Exception {
            return inbox(link).next();
        }

        @Override
        public void disconnect() throws Exception {
            call("disconnect", link, JSON.createObjectNode());
        }

        @Override
        public void disconnectForgetting() throws Exception {
            call("disconnect", link, JSON.createObjectNode().put("sessionExpiry", 0));
        }

        @Override
        public void cut() throws Exception {
            call("cut", link, JSON.createObjectNode());
        }
    }
}
