// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigKey;
import io.smqtt.config.ConfigSchema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Keeps what editors know of the properties equal to the schema. With -Dsmqtt.docs.write=true it writes the file. */
class MetadataTest {

    private static final Path FILE = Path.of("src/main/resources/META-INF/spring-configuration-metadata.json");
    private static final String NAMED = "listeners.<name>.";
    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    @Test
    void editorsKnowWhatTheSchemaSays() throws IOException {
        String expected = metadata().toPrettyString().replace("\r", "") + "\n";
        if (Boolean.getBoolean("smqtt.docs.write")) {
            Files.writeString(FILE, expected);
        }

        assertThat(FILE).hasContent(expected);
    }

    @Test
    void everyPropertyHasWords() throws IOException {
        JsonNode properties = JSON.readTree(FILE.toFile()).get("properties");

        assertThat(properties.size()).isGreaterThan(80);
        assertThat(properties)
                .allSatisfy(property -> assertThat(property.path("description").asText())
                        .as(property.path("name").asText())
                        .isNotBlank());
    }

    private static JsonNode metadata() {
        ObjectNode root = JSON.createObjectNode();
        ArrayNode groups = root.putArray("groups");
        ObjectNode group = groups.addObject();
        group.put("name", "smqtt").put("type", BrokerConfig.class.getName());
        ArrayNode properties = root.putArray("properties");
        ArrayNode hints = root.putArray("hints");
        ConfigSchema schema = SmqttProperties.schema();
        properties
                .addObject()
                .put("name", "smqtt.listeners")
                .put("type", "java.util.Map<java.lang.String,io.smqtt.config.ListenerConfig>")
                .put(
                        "description",
                        "Listeners by name, in the order in which they are bound; a new name needs a type.");
        properties
                .addObject()
                .put("name", "smqtt.auto-subscriptions")
                .put("type", "java.util.Map<java.lang.String,io.smqtt.config.AutoSubscriptionConfig>")
                .put("description", "Subscriptions that every client gets when it connects, by name.");
        for (ConfigKey key : schema.describe()) {
            for (String name : names(key)) {
                add(key, "smqtt." + name, properties, hints);
            }
        }
        return root;
    }

    /** The two listeners that are there by default stand for all; of other blocks with names there is only the map. */
    private static List<String> names(ConfigKey key) {
        if (key.name().contains("<name>") && !key.name().startsWith(NAMED)) {
            return List.of();
        }
        if (!key.name().startsWith(NAMED)) {
            return SmqttProperties.PORT.contains(key.name()) ? List.of() : List.of(key.name());
        }
        List<String> names = new ArrayList<>();
        for (String listener : BrokerConfig.defaults().listeners().keySet()) {
            names.add("listeners." + listener + "." + key.name().substring(NAMED.length()));
        }
        return names;
    }

    private static void add(ConfigKey key, String name, ArrayNode properties, ArrayNode hints) {
        ObjectNode property = properties.addObject().put("name", name);
        boolean words = key.type().startsWith("one of ");
        property.put("type", type(key.type()));
        String range = key.range().isEmpty() ? "" : " (" + key.range() + ")";
        String text = key.doc().replace("`", "");
        property.put("description", Character.toUpperCase(text.charAt(0)) + text.substring(1) + range + ".");
        if (!key.defaultText().isEmpty() && !key.name().startsWith(NAMED) && !key.secret()) {
            property.put("defaultValue", key.defaultText());
        }
        if (words) {
            ArrayNode values = hints.addObject().put("name", name).putArray("values");
            for (String word : key.type().substring("one of ".length()).split(", ")) {
                values.addObject().put("value", word);
            }
        }
        int or = key.type().indexOf(" or a duration");
        if (or > 0) {
            ObjectNode hint = hints.addObject().put("name", name);
            hint.putArray("values").addObject().put("value", key.type().substring(0, or));
            hint.putArray("providers").addObject().put("name", "any");
        }
    }

    private static String type(String words) {
        Map<String, String> types = Map.of(
                "true or false", "java.lang.Boolean",
                "an integer", "java.lang.Long",
                "a duration such as 250ms, 5s or 1h", "java.time.Duration",
                "a path", "java.nio.file.Path",
                "a list", "java.util.List<java.lang.String>");
        return types.getOrDefault(words, "java.lang.String");
    }
}
