// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.admin.ApiBroker.Reply;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ValidationConfig;
import io.smqtt.config.ValidationConfig.FailureAction;
import io.smqtt.config.ValidationConfig.Strategy;
import io.smqtt.spi.PayloadChecks;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code /schema_registry} and {@code /schema_validations}: what operators add reaches the checks of payloads. */
class PayloadCheckRoutesTest {

    private static final String PATH = "/schema_registry";
    private static final String CHECKS = "/schema_validations";

    @TempDir
    Path directory;

    private final Map<String, String> used = new ConcurrentHashMap<>();
    private volatile Map<String, ValidationConfig> checks = Map.of();

    private ApiBroker broker() {
        return new ApiBroker(
                directory,
                new ManagedBroker.Cluster(
                        null,
                        null,
                        null,
                        new PayloadChecks() {

                            @Override
                            public void testSchema(String source) {
                                if (!source.startsWith("{")) {
                                    throw new IllegalArgumentException("it has no object");
                                }
                            }

                            @Override
                            public void putSchema(String name, String source) {
                                used.put(name, source);
                            }

                            @Override
                            public void removeSchema(String name) {
                                used.remove(name);
                            }

                            @Override
                            public void test(String name, ValidationConfig check) {
                                if (check.sql().equals("SELECT")) {
                                    throw new ConfigurationException(
                                            "validations." + name + ".sql", "has a mistake: line 1");
                                }
                            }

                            @Override
                            public void replace(Map<String, ValidationConfig> changed) {
                                checks = Map.copyOf(changed);
                            }
                        },
                        null));
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
    void theListOfChecksIsReplacedAndReachesThem() {
        String minimal =
                "{\"name\":\"a\",\"topics\":[\"a/#\",\"b\"],\"checks\":[{\"type\":\"json\",\"schema\":\"s\"}]}";
        String full = "{\"name\":\"b\",\"topics\":[\"#\"],\"checks\":[{\"type\":\"json\",\"schema\":\"s\"},"
                + "{\"type\":\"sql\",\"sql\":\"SELECT * FROM \\\"#\\\"\"}],\"strategy\":\"any_pass\",\"failure_action\":\"disconnect\","
                + "\"redirect_topic\":\"wrong\",\"log_failure\":false,\"max_payload_size\":9,\"timeout\":20}";
        try (ApiBroker api = broker()) {
            Reply made = api.send("PUT", CHECKS, "[" + minimal + "," + full + "]");
            assertThat(made.status()).as(made.text()).isEqualTo(200);
            assertThat(made.json().get(0).path("failure_action").asText()).isEqualTo("drop");
            assertThat(made.text()).endsWith("," + full + "]");
            assertThat(api.get(CHECKS).text()).isEqualTo(made.text());
            await().untilAsserted(() -> assertThat(checks).hasSize(2));
            assertThat(checks.get("a").topics()).containsExactly("a/#", "b");
            assertThat(checks.get("a").timeout()).hasSeconds(1);
            assertThat(checks.get("b"))
                    .isEqualTo(new ValidationConfig(
                            List.of("#"),
                            null,
                            List.of("s"),
                            "SELECT * FROM \"#\"",
                            Strategy.ANY,
                            FailureAction.DISCONNECT,
                            "wrong",
                            false,
                            9,
                            Duration.ofMillis(20)));

            String file = api.post("/data/export", "").text();
            api.send("PUT", CHECKS, "[]");
            await().untilAsserted(() -> assertThat(checks).isEmpty());
            assertThat(api.post("/data/import", file).status()).isEqualTo(200);
            assertThat(api.get(CHECKS).text()).isEqualTo(made.text());
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'topics':['a'],'checks':[{'type':'json','schema':'s'}]} | the field name is missing",
                "{'name':'.a','topics':['a'],'checks':[{'type':'json','schema':'s'}]} | the field name must have",
                "{'name':'a','topics':[],'checks':[{'type':'json','schema':'s'}]} | the field topics must be set",
                "{'name':'a','topics':['a/#/b'],'checks':[{'type':'json','schema':'s'}]} | the field topics has no such topic",
                "{'name':'a','topics':['a'],'checks':[]} | the field checks must be set",
                "{'name':'a','topics':['a'],'checks':[{'type':'avro','schema':'s'}]} | the field type must be json or sql",
                "{'name':'a','topics':['a'],'checks':[{'type':'json','schema':'../s'}]} | the field checks must be names",
                "{'name':'a','topics':['a'],'checks':[{'type':'sql','sql':'SELECT'}]} | the field sql has a mistake",
                "{'name':'a','topics':['a'],'checks':[{'type':'sql','sql':'A'},{'type':'sql','sql':'B'}]} | the field checks can have",
                "{'name':'a','topics':['a'],'checks':[{'type':'sql','sql':'A'}],'strategy':'all'} | the field strategy must be",
                "{'name':'a','topics':['a'],'checks':[{'type':'sql','sql':'A'}],'redirect_topic':'#'} | the field redirect_topic has",
                "{'name':'a','topics':['a'],'checks':[{'type':'sql','sql':'A'}],'timeout':9} | the field timeout must be 10 to",
            },
            quoteCharacter = '`')
    void aWrongCheckIsNamedAndNothingChanges(String check, String problem) {
        try (ApiBroker api = broker()) {
            Reply reply = api.send("PUT", CHECKS, "[" + check.replace('\'', '"') + "]");
            assertThat(reply.status()).isEqualTo(400);
            assertThat(reply.json().path("message").asText()).startsWith("rule 1: " + problem);
            assertThat(api.get(CHECKS).text()).isEqualTo("[]");
        }
    }

    @Test
    void twoChecksHaveTwoNames() {
        String check = "{\"name\":\"a\",\"topics\":[\"a\"],\"checks\":[{\"type\":\"json\",\"schema\":\"s\"}]}";
        try (ApiBroker api = broker()) {
            Reply reply = api.send("PUT", CHECKS, "[" + check + "," + check + "]");
            assertThat(reply.status()).isEqualTo(400);
            assertThat(reply.text()).contains("several rules with the name a");
        }
    }

    @Test
    void withoutAModuleForThemThereIsNothing() {
        try (ApiBroker api = new ApiBroker(directory)) {
            Reply refused = api.post(PATH, "{\"name\":\"a\",\"source\":\"{}\"}");
            assertThat(refused.status()).isEqualTo(400);
            assertThat(refused.text()).contains("no module that checks payloads");
            assertThat(api.send("PUT", CHECKS, "[]").status()).isEqualTo(400);
            assertThat(api.get(CHECKS).text()).isEqualTo("[]");
        }
    }
}
