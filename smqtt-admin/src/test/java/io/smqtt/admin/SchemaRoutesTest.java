// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.admin.ApiBroker.Reply;
import io.smqtt.spi.Schemas;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code /schema_registry}: what operators add reaches the checks of payloads. */
class SchemaRoutesTest {

    private static final String PATH = "/schema_registry";

    @TempDir
    Path directory;

    private final Map<String, String> used = new ConcurrentHashMap<>();

    private ApiBroker broker() {
        return new ApiBroker(directory, new ManagedBroker.Cluster(null, null, null, new Schemas() {

            @Override
            public void test(String source) {
                if (!source.startsWith("{")) {
                    throw new IllegalArgumentException("it has no object");
                }
            }

            @Override
            public void put(String name, String source) {
                used.put(name, source);
            }

            @Override
            public void remove(String name) {
                used.remove(name);
            }
        }));
    }

    @Test
    void aSchemaIsAddedReplacedAndRemoved() {
        try (ApiBroker api = broker()) {
            Reply added = api.post(PATH, "{\"name\":\"sensor\",\"type\":\"json\",\"source\":\"{}\"}");
            assertThat(added.status()).isEqualTo(200);
            assertThat(added.text())
                    .isEqualTo("{\"name\":\"sensor\",\"type\":\"json\",\"source\":\"{}\",\"description\":\"\"}");
            await().untilAsserted(() -> assertThat(used).containsExactly(Map.entry("sensor", "{}")));
            assertThat(api.post(PATH, "{\"name\":\"sensor\",\"source\":\"{}\"}")
                            .json()
                            .path("code")
                            .asText())
                    .isEqualTo("ALREADY_EXISTS");

            Reply replaced = api.send("PUT", PATH + "/sensor", "{\"source\":\"{ }\",\"description\":\"of rooms\"}");
            assertThat(replaced.status()).isEqualTo(200);
            await().untilAsserted(() -> assertThat(used).containsExactly(Map.entry("sensor", "{ }")));
            assertThat(api.get(PATH + "/sensor").json().path("description").asText())
                    .isEqualTo("of rooms");
            assertThat(api.get(PATH).json()).hasSize(1);

            assertThat(api.delete(PATH + "/sensor").status()).isEqualTo(204);
            await().untilAsserted(() -> assertThat(used).isEmpty());
            assertThat(api.get(PATH + "/sensor").status()).isEqualTo(404);
            assertThat(api.delete(PATH + "/sensor").status()).isEqualTo(404);
            assertThat(api.send("PUT", PATH + "/sensor", "{\"source\":\"{}\"}").status())
                    .isEqualTo(404);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"name\":\"a\",\"source\":\"7\"}",
                "{\"name\":\"a\",\"source\":{}}",
                "{\"name\":\"a\"}",
                "{\"name\":\"\",\"source\":\"{}\"}",
                "{\"name\":\"../a\",\"source\":\"{}\"}",
                "{\"name\":\"a\",\"type\":\"avro\",\"source\":\"{}\"}"
            })
    void whatIsNoSchemaIsRefused(String body) {
        try (ApiBroker api = broker()) {
            assertThat(api.post(PATH, body).status()).isEqualTo(400);
            assertThat(api.get(PATH).json()).isEmpty();
        }
    }

    @Test
    void withoutAValidationThereAreNoSchemas() {
        try (ApiBroker api = new ApiBroker(directory)) {
            Reply refused = api.post(PATH, "{\"name\":\"a\",\"source\":\"{}\"}");
            assertThat(refused.status()).isEqualTo(400);
            assertThat(refused.text()).contains("validations");
        }
    }
}
