// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.bootstrap.BrokerApi.Listing;
import io.smqtt.bootstrap.BrokerApi.Paging;
import io.smqtt.bootstrap.TextTable.Column;
import io.smqtt.config.ConfigurationException;
import io.smqtt.message.LogText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ctl publish} and {@code ctl retained}: messages. */
final class MessageCommands {

    private MessageCommands() {}

    /** Publishes a message. */
    @Command(
            name = "publish",
            description = "Publishes a message. Access rules do not apply. The payload is --message, --file, or else "
                    + "standard input.")
    static final class Publish extends CtlRequest {

        @Nullable
        @Option(
                names = {"-m", "--message"},
                paramLabel = "TEXT",
                description = "Is the payload.")
        String message;

        @Nullable
        @Option(
                names = {"-f", "--file"},
                paramLabel = "FILE",
                description = "Names a file whose bytes are the payload.")
        String file;

        @Option(names = "--qos", paramLabel = "QOS", description = "Is 0, 1 or 2. The default is 0.")
        int qos;

        @Option(names = "--retain", description = "Retains the message.")
        boolean retain;

        @Nullable
        @Option(
                names = "--expiry",
                paramLabel = "SECONDS",
                description = "Sets the time after which the message expires.")
        Long expirySeconds;

        @Nullable
        @Option(names = "--content-type", paramLabel = "TYPE", description = "Sets the content type.")
        String contentType;

        @Nullable
        @Option(names = "--response-topic", paramLabel = "TOPIC", description = "Sets the response topic.")
        String responseTopic;

        @Nullable
        @Option(names = "--correlation-data", paramLabel = "TEXT", description = "Sets the correlation data.")
        String correlationData;

        @Option(
                names = "--user-property",
                paramLabel = "NAME=VALUE",
                description = "Adds a user property. Can be repeated.")
        List<String> userProperties = new ArrayList<>();

        @Parameters(paramLabel = "TOPIC", description = "Is the topic name.")
        String topic = "";

        Publish(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            if (message != null && file != null) {
                throw usage("--message and --file exclude each other");
            }
            ObjectNode body = BrokerApi.object();
            body.put("topic", topic).put("qos", qos).put("retain", retain);
            body.put("payload", Base64.getEncoder().encodeToString(payload())).put("payload_encoding", "base64");
            body.set("properties", properties());
            JsonNode answer = api.send("POST", "/publish", body);
            boolean received = answer.has("id");
            out.done(answer, received ? "published " + answer.path("id").asText() : "published, nobody has subscribed");
        }

        private ObjectNode properties() {
            ObjectNode properties = BrokerApi.object();
            if (expirySeconds != null) {
                properties.put("message_expiry_interval", expirySeconds);
            }
            Map<String, @Nullable String> texts = new LinkedHashMap<>();
            texts.put("content_type", contentType);
            texts.put("response_topic", responseTopic);
            texts.put("correlation_data", correlationData);
            texts.forEach((name, value) -> {
                if (value != null) {
                    properties.put(name, value);
                }
            });
            if (!userProperties.isEmpty()) {
                properties.set("user_properties", pairs());
            }
            return properties;
        }

        private ObjectNode pairs() {
            ObjectNode pairs = BrokerApi.object();
            for (String pair : userProperties) {
                int equals = pair.indexOf('=');
                if (equals <= 0) {
                    throw usage("--user-property takes NAME=VALUE");
                }
                String name = pair.substring(0, equals);
                ArrayNode values = pairs.has(name) ? (ArrayNode) pairs.get(name) : pairs.putArray(name);
                values.add(pair.substring(equals + 1));
            }
            return pairs;
        }

        private byte[] payload() throws IOException {
            if (message != null) {
                return message.getBytes(StandardCharsets.UTF_8);
            }
            return file == null ? program().in().readAllBytes() : bytes(file);
        }

        private byte[] bytes(String name) {
            Path path = program().directory().resolve(name);
            try {
                return Files.readAllBytes(path);
            } catch (IOException e) {
                throw new ConfigurationException(
                        name + ": cannot be read (" + e.getClass().getSimpleName() + ")");
            }
        }
    }

    /** Lists retained messages. */
    @Command(name = "list", description = "Lists retained messages without their payloads.")
    static final class Retained extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(
                Column.of("topic"),
                Column.of("qos"),
                Column.of("BYTES", "payload_size"),
                Column.of("PUBLISHED", "publish_at"),
                Column.of("FROM", "from_clientid"));

        @Mixin
        LimitOption shown = new LimitOption();

        @Nullable
        @Parameters(arity = "0..1", paramLabel = "FILTER", description = "Is a topic filter. The default is all.")
        String filter;

        Retained(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            Map<String, @Nullable Object> query = new LinkedHashMap<>();
            query.put("topic", filter);
            String path = BrokerApi.query("/mqtt/retainer/messages", query);
            out.list(api, new Listing(path, Paging.PAGE, shown.limit), COLUMNS, "retained messages");
        }
    }

    /** Shows a retained message. */
    @Command(name = "show", description = "Shows the retained message of a topic.")
    static final class Show extends CtlRequest {

        @Option(names = "--raw", description = "Prints the bytes of the payload and nothing else.")
        boolean raw;

        @Parameters(paramLabel = "TOPIC", description = "Is the topic name.")
        String topic = "";

        Show(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            JsonNode answer = api.get(BrokerApi.path("/mqtt/retainer/message/{topic}", topic));
            byte[] payload = answer.path("payload").binaryValue();
            if (raw) {
                program().out().write(payload == null ? new byte[0] : payload);
            } else if (out.isJson() || payload == null) {
                out.object(answer);
            } else {
                ObjectNode shown = answer.deepCopy();
                out.object(shown.put("payload", new String(payload, StandardCharsets.UTF_8)));
            }
        }
    }

    /** Removes retained messages. */
    @Command(
            name = "delete",
            description =
                    "Removes the retained message of a topic, or those of a filter, on all nodes. The filter # removes "
                            + "all.")
    static final class Delete extends CtlRequest {

        @Parameters(paramLabel = "TOPIC", description = "Is a topic name or a topic filter.")
        String topic = "";

        Delete(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            boolean several = topic.contains("#") || topic.contains("+");
            String path = several
                    ? BrokerApi.query("/mqtt/retainer/messages", Map.of("topic", topic))
                    : BrokerApi.path("/mqtt/retainer/message/{topic}", topic);
            api.send("DELETE", path, null);
            out.done("removed " + LogText.escape(topic));
        }
    }
}
