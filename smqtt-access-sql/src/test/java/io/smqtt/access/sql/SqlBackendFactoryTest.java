// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.AccessBackend.Ability;
import io.smqtt.access.backend.AccessBackendFactory;
import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.BackendSettings;
import io.smqtt.access.backend.CertificateNames;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.Ticker;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Signal;

class SqlBackendFactoryTest {

    private static final String URL = "jdbc:postgresql://127.0.0.1:1/mqtt";
    private static final String QUERY = "SELECT password_hash FROM u WHERE n = ${username}";

    @Test
    void theServiceLoaderFindsIt() {
        assertThat(ServiceLoader.load(AccessBackendFactory.class))
                .extracting(AccessBackendFactory::type)
                .contains("sql");
    }

    @Test
    void opensWithoutADatabase() {
        AccessBackend both = open("url", URL, "query", QUERY, "acl-query", "SELECT * FROM a WHERE n = ${username}");
        AccessBackend users = open("style", "go-auth", "url", URL, "userquery", "SELECT h FROM u WHERE n = $1");
        AccessBackend maria =
                open("url", "jdbc:mariadb://127.0.0.1:1/mqtt", "acl-query", "SELECT * FROM a WHERE n = ${username}");

        assertThat(both.abilities()).containsExactlyInAnyOrder(Ability.USERS, Ability.RULES);
        assertThat(users.abilities()).containsExactly(Ability.USERS);
        assertThat(maria.abilities()).containsExactly(Ability.RULES);
        both.close();
        users.close();
        maria.close();
    }

    /** The three statements for the rules of a client wait for the only connection; none of them is turned away. */
    @Test
    void oneConnectionIsEnoughForTheRulesOfAClient() {
        AccessBackend backend = open(
                AccessBackendConfig.builder("sql")
                        .maxConcurrent(1)
                        .timeout(Duration.ofMillis(300))
                        .build(),
                "style",
                "go-auth",
                "url",
                URL,
                "aclquery",
                "SELECT t FROM a WHERE n = $1 AND rw = $2");
        BackendRequest ann = new BackendRequest(
                "c",
                "ann",
                null,
                new InetSocketAddress("127.0.0.1", 4711),
                "tcp",
                ProtocolVersion.MQTT_5,
                CertificateNames.NONE,
                Map.of());

        Signal<List<AccessRule>> end = backend.rules(ann).materialize().block(Duration.ofSeconds(20));

        assertThat(end).isNotNull();
        assertThat(end.getThrowable()).isInstanceOf(SqlServer.SqlFailedException.class);
        backend.close();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "url=jdbc:oracle:x;query=" + QUERY
                        + " | smqtt.yaml:1: access.backends.db.url must begin with jdbc:postgresql: or",
                "url=jdbc:mysql://h/d;query=" + QUERY + " | the driver of MariaDB connects to MySQL, too",
                "url=jdbc:postgresql://h/d?password=x;query=" + QUERY + " | must not have a password",
                "url=jdbc:postgresql://u:x@h/d;query=" + QUERY + " | must not have a password",
                "url=" + URL + " | query must be set, or acl-query",
                "url=" + URL + ";userquery=SELECT 1 | access.backends.db.userquery is for style go-auth only",
                "style=go-auth;url=" + URL + ";query=" + QUERY + " | access.backends.db.query is for style emqx only",
                "style=go-auth;url=" + URL + ";superquery=SELECT $1;aclquery=SELECT $1 | superquery needs userquery",
                "url=" + URL
                        + ";query=SELECT ${user} | smqtt.yaml:2: access.backends.db.query has the placeholder ${user}",
                "url=" + URL
                        + ";query=SELECT '${username}' | smqtt.yaml:2: access.backends.db.query has ${username} inside of quotes",
                "url=" + URL
                        + ";acl-query=SELECT ${password} | smqtt.yaml:2: access.backends.db.acl-query has the placeholder ${password}",
                "url=" + URL + ";query=" + QUERY + ";password-file=/none | cannot be read: ",
            })
    void wrongSettingsStopTheStart(String settings, String problem) {
        String[] parts = settings.split("[;]");
        String[] keysAndValues = new String[parts.length * 2];
        for (int i = 0; i < parts.length; i++) {
            int equals = parts[i].indexOf('=');
            keysAndValues[2 * i] = parts[i].substring(0, equals);
            keysAndValues[2 * i + 1] = parts[i].substring(equals + 1);
        }
        assertThatThrownBy(() -> open(keysAndValues))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(problem);
    }

    private static AccessBackend open(String... keysAndValues) {
        return open(AccessBackendConfig.builder("sql").build(), keysAndValues);
    }

    private static AccessBackend open(AccessBackendConfig common, String... keysAndValues) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            values.put(
                    keysAndValues[i],
                    new ConfigValue(keysAndValues[i + 1], "smqtt.yaml:" + (i / 2 + 1), Path.of("/etc")));
        }
        SqlBackendFactory factory = new SqlBackendFactory();
        return factory.open(
                BackendSettings.of("db", factory.settings(), values), new BackendContext("db", common, Ticker.SYSTEM));
    }
}
