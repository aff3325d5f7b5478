// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.StorageConfig;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;

/** Properties become the one schema's records. */
class ConfigurationTest {

    @TempDir
    Path directory;

    /** Without what this test run itself is given. */
    private static StandardEnvironment bare() {
        StandardEnvironment environment = new StandardEnvironment();
        environment.getPropertySources().remove(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
        return environment;
    }

    private static ConfigurableEnvironment environment(Map<String, Object> properties) {
        StandardEnvironment environment = bare();
        environment.getPropertySources().addFirst(new MapPropertySource("test", properties));
        return environment;
    }

    private static SmqttProperties properties(ConfigurableEnvironment environment) {
        return SmqttProperties.of(environment, bound -> bound);
    }

    private static BrokerConfig of(Map<String, Object> properties) {
        return properties(environment(properties)).broker();
    }

    private static BrokerConfig ofVariables(Map<String, Object> variables) {
        StandardEnvironment environment = bare();
        environment
                .getPropertySources()
                .replace(
                        StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                        new SystemEnvironmentPropertySource("systemEnvironment", variables));
        return properties(environment).broker();
    }

    private static ConfigurableEnvironment yaml(String text) throws IOException {
        StandardEnvironment environment = bare();
        ByteArrayResource resource = new ByteArrayResource(text.getBytes(StandardCharsets.UTF_8)) {
            @Override
            public String getFilename() {
                return "application.yaml";
            }
        };
        new YamlPropertySourceLoader()
                .load("application.yaml", resource)
                .forEach(environment.getPropertySources()::addFirst);
        return environment;
    }

    @Test
    void withoutPropertiesThereAreTheDefaults() {
        assertThat(of(Map.of())).isEqualTo(BrokerConfig.defaults());
    }

    @Test
    void keysAreTakenInAllSpringSpellings() {
        BrokerConfig config = of(Map.of(
                "smqtt.limits.max-in-flight", 7,
                "smqtt.limits.maxQueuedMessages", "8",
                "smqtt.listeners.tcp.connectTimeout", "3s",
                "smqtt.listeners.my-tls.type", "tcp",
                "smqtt.listeners.my-tls.port", 0));

        assertThat(config.limits().maxInFlight()).isEqualTo(7);
        assertThat(config.limits().maxQueuedMessages()).isEqualTo(8);
        assertThat(config.listeners().get("tcp").connectTimeout()).isEqualTo(Duration.ofSeconds(3));
        assertThat(config.listeners()).containsKey("my-tls");
    }

    @Test
    void zeroMayHaveAWord() {
        assertThat(of(Map.of("smqtt.cluster.forgetAfter", "never")).cluster().forgetAfter())
                .isZero();
    }

    @Test
    void listsComeInOneTextOrByIndex() throws IOException {
        assertThat(of(Map.of("smqtt.cluster.seeds", "a:1,b:2")).cluster().seeds())
                .containsExactly("a:1", "b:2");
        assertThat(properties(yaml("smqtt:\n  cluster:\n    seeds:\n      - a:1\n      - b:2\n"))
                        .broker()
                        .cluster()
                        .seeds())
                .containsExactly("a:1", "b:2");
    }

    @Test
    void aListOfAnEarlierSourceReplacesTheWholeOne() throws IOException {
        ConfigurableEnvironment environment = yaml("smqtt:\n  cluster:\n    seeds: [a:1, b:2]\n");
        environment
                .getPropertySources()
                .addFirst(new MapPropertySource("first", Map.of("smqtt.cluster.seeds[0]", "c:3")));

        assertThat(properties(environment).broker().cluster().seeds()).containsExactly("c:3");
    }

    @Test
    void variablesComeAsSpringWritesThemAndAsTheProgramDoes() {
        BrokerConfig config = ofVariables(Map.of(
                "SMQTT_LISTENERS_TCP_PORT", "0",
                "SMQTT_LISTENERS__WS__PORT", "1",
                "SMQTT_LIMITS_MAX_IN_FLIGHT", "7",
                "SMQTT_LIMITS_MAXQUEUEDMESSAGES", "8",
                "SMQTT_LIMITS__MAX_CONNECTIONS", "9",
                "SMQTT_PORT_1883_TCP_ADDR", "10.0.0.1"));

        assertThat(config.listeners().get("tcp").port()).isZero();
        assertThat(config.listeners().get("ws").port()).isEqualTo(1);
        assertThat(config.limits().maxInFlight()).isEqualTo(7);
        assertThat(config.limits().maxQueuedMessages()).isEqualTo(8);
        assertThat(config.limits().maxConnections()).isEqualTo(9);
    }

    @Test
    void aSecretMayBeInAFile() throws IOException {
        Path file = Files.writeString(directory.resolve("secret"), "0123456789abcdef\n");

        assertThat(ofVariables(Map.of("SMQTT_CLUSTER__SECRET_FILE", file.toString()))
                        .cluster()
                        .secret())
                .isEqualTo("0123456789abcdef");
    }

    @Test
    void placeholdersAreResolved() {
        assertThat(of(Map.of("smqtt.storage.kind", "${kind:rocksdb}", "smqtt.storage.dir", "${dir}/x", "dir", "/d"))
                        .storage())
                .satisfies(storage -> {
                    assertThat(storage.kind()).isEqualTo(StorageConfig.Kind.ROCKSDB);
                    assertThat(storage.dir()).isEqualTo(Path.of("/d/x"));
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"${user}-*", "\\${user}-*"})
    void placeholdersOfTheBrokerAreLeftToIt(String pattern) {
        for (String key : List.of("smqtt.access.client-id", "smqtt.access.clientId")) {
            assertThat(of(Map.of(key, pattern, "user", "root")).access().clientId())
                    .isEqualTo("${user}-*");
        }
        assertThat(of(Map.of("smqtt.access.client-id", "${tenant}-" + pattern, "tenant", "acme", "user", "root"))
                        .access()
                        .clientId())
                .isEqualTo("acme-${user}-*");
        assertThat(ofVariables(Map.of("SMQTT_ACCESS_CLIENTID", pattern, "USER", "root"))
                        .access()
                        .clientId())
                .isEqualTo("${user}-*");
    }

    @Test
    void unknownKeysAreNamedWithTheNearestAndTheLine() {
        assertThatThrownBy(() -> properties(yaml("smqtt:\n  listeners:\n    tcp:\n      prot: 1\n")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("application.yaml:4: unknown key listeners.tcp.prot")
                .hasMessageContaining("did you mean listeners.tcp.port?");
        assertThatThrownBy(() -> ofVariables(Map.of("SMQTT_LISTENERS__TCP__PROT", "1")))
                .hasMessageContaining("environment SMQTT_LISTENERS__TCP__PROT: unknown key listeners.tcp.prot");
    }

    @Test
    void allProblemsAreFoundAtOnce() {
        assertThatThrownBy(
                        () -> properties(
                                yaml(
                                        "smqtt:\n  event-loops: many\n  management:\n    port: 1\n  spring:\n    listener-threads: 0\n")))
                .hasMessageContaining("application.yaml:2: event-loops must be an integer")
                .hasMessageContaining("application.yaml:4: management.port has no use in a Spring application")
                .hasMessageContaining("application.yaml:6: spring.listener-threads must be 1 to 10000, but is 0");
    }
}
