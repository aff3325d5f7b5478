// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.AccessBackendConfig;
import io.smqtt.config.AccessConfig;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigBinder;
import io.smqtt.config.ConfigSchema;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class BackendSettingsTest {

    private static final List<BackendSetting> DECLARED = List.of(
            BackendSetting.text("url", "address").required(),
            BackendSetting.choice("method", "post", List.of("post", "get"), "method"),
            BackendSetting.number("size", 8, 1, 10, "size"),
            BackendSetting.duration("refresh", "5m", "1s", "1h", "time"),
            BackendSetting.flag("strict", true, "flag"),
            BackendSetting.file("ca", "file"),
            BackendSetting.list("names", "list"),
            BackendSetting.entries("headers", "headers"));

    @Test
    void valuesAndDefaultsAreRead() {
        BackendSettings settings =
                of("url", "http://h", "size", "9", "ca", "ca.pem", "names", "a,b", "headers.x", "${username}");

        assertThat(settings.text("url")).isEqualTo("http://h");
        assertThat(settings.text("method")).isEqualTo("post");
        assertThat(settings.number("size")).isEqualTo(9);
        assertThat(settings.duration("refresh")).isEqualTo(Duration.ofMinutes(5));
        assertThat(settings.flag("strict")).isTrue();
        assertThat(settings.file("ca")).isEqualTo(Path.of("/etc/ca.pem"));
        assertThat(settings.list("names")).containsExactly("a", "b");
        assertThat(settings.templates("headers", Template.Scope.USER)).containsOnlyKeys("x");
    }

    @Test
    void allProblemsAreReportedWithTheirLines() {
        assertThatThrownBy(() -> of("size", "0", "method", "put", "strict", "x", "refresh", "x", "urll", "x"))
                .isInstanceOfSatisfying(
                        ConfigurationException.class,
                        e -> assertThat(e.problems())
                                .containsExactlyInAnyOrder(
                                        "access.backends.web.url must be set",
                                        "smqtt.yaml:1: access.backends.web.size must be a whole number from 1 to 10",
                                        "smqtt.yaml:2: access.backends.web.method must be post, get",
                                        "smqtt.yaml:3: access.backends.web.strict must be true or false",
                                        "smqtt.yaml:4: access.backends.web.refresh must be a duration such as 5s from 1s to 1h",
                                        "smqtt.yaml:5: access.backends.web.urll is no key of a backend of this type; it has url,"
                                                + " method, size, refresh, strict, ca, names, headers"));
    }

    @Test
    void anUnknownPlaceholderIsReportedWithKeyAndLine() {
        assertThatThrownBy(() -> of("url", "http://h/${user}").template("url", Template.Scope.USER))
                .hasMessageStartingWith("smqtt.yaml:1: access.backends.web.url has the placeholder ${user}; known are");
    }

    @Test
    void keysOfABackendGoThroughTheConfigurationOfTheBroker() {
        BrokerConfig config = ConfigBinder.bind(
                BrokerConfig.defaults(),
                values(
                        "access.chain", "web,certificate",
                        "access.backends.web.type", "http",
                        "access.backends.web.max-concurrent", "3",
                        "access.backends.web.url", "http://h",
                        "access.backends.web.headers.authorization", "Bearer x"));
        AccessBackendConfig web =
                Objects.requireNonNull(config.access().backends().get("web"));

        assertThat(config.requiredModules()).containsEntry("access.chain", "smqtt-access");
        assertThat(web.maxConcurrent()).isEqualTo(3);
        assertThat(web.checks()).containsExactly("user", "acl");
        assertThat(web.settings()).containsOnlyKeys("url", "headers.authorization");
        assertThat(ConfigSchema.values(config))
                .containsEntry("access.backends.web.url", "http://h")
                .containsEntry("access.backends.web.headers.authorization", "***");
    }

    @Test
    void theChainNamesEachBackendOnce() {
        AccessBackendConfig web = AccessBackendConfig.builder("http").build();

        assertThatThrownBy(() -> AccessConfig.builder().chain(List.of("web")).build())
                .hasMessage(
                        "access.chain names web, which is neither in access.backends nor certificate or password-file");
        assertThatThrownBy(() -> AccessConfig.builder()
                        .chain(List.of("web", "web"))
                        .backend("web", web)
                        .build())
                .hasMessage("access.chain names a backend twice");
        assertThatThrownBy(() -> AccessConfig.builder().backend("web", web).build())
                .hasMessageStartingWith("access.backends has web, which access.chain does not name");
        assertThatThrownBy(() ->
                        AccessConfig.builder().chain(List.of("password-file")).build())
                .hasMessage("access.chain names password-file, which needs access.password-file");
    }

    private static BackendSettings of(String... keysAndValues) {
        return BackendSettings.of("web", DECLARED, values(keysAndValues));
    }

    private static Map<String, ConfigValue> values(String... keysAndValues) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            values.put(
                    keysAndValues[i],
                    new ConfigValue(keysAndValues[i + 1], "smqtt.yaml:" + (i / 2 + 1), Path.of("/etc")));
        }
        return values;
    }
}
