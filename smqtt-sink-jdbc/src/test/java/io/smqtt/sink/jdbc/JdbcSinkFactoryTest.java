// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.RuleActionConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkPage;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.rules.sink.SinkSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

class JdbcSinkFactoryTest {

    private static final String URL = "jdbc:postgresql://127.0.0.1:1/plant";
    private static final String INSERT = "INSERT INTO t VALUES (${t})";
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Test
    void theServiceLoaderFindsIt() {
        assertThat(ServiceLoader.load(SinkFactory.class))
                .extracting(SinkFactory::type)
                .contains("jdbc");
    }

    @Test
    void pageHasTheKeys() throws IOException {
        SinkPage.assertHasKeysOf(List.of(new JdbcSinkFactory()));
    }

    @Test
    void databaseThatIsAwayMayComeBack() {
        SinkRecord row = new SinkRecord(
                Map.of("t", 1L), ApplicationMessage.builder("a").payload("x").build());
        try (Sink sink = open("url", URL, "statement", INSERT)) {
            assertThatThrownBy(() -> sink.send(List.of(row)).block(PATIENCE))
                    .isInstanceOfSatisfying(SinkException.class, error -> {
                        assertThat(error.isRecoverable()).isTrue();
                        assertThat(error).hasMessageContaining("Connection refused");
                    });
            assertThatThrownBy(() -> sink.check().block(PATIENCE)).isInstanceOf(SinkException.class);
            sink.close();
            assertThatThrownBy(() -> sink.send(List.of(row)).block(PATIENCE)).hasMessage("the sink is closed");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "url=jdbc:oracle:x;statement=" + INSERT
                        + " | smqtt.yaml:1: rules.r.actions.a.url must begin with jdbc:postgresql: or",
                "url=jdbc:mysql://h/d;statement=" + INSERT + " | the driver of MariaDB connects to MySQL, too",
                "url=jdbc:postgresql://h/d?password=x;statement=" + INSERT + " | must not have a password",
                "url=jdbc:postgresql://u:x@h/d;statement=" + INSERT + " | must not have a password",
                "url=" + URL + " | rules.r.actions.a.statement must be set",
                "url=" + URL
                        + ";statement=INSERT INTO t VALUES (${temp}) | smqtt.yaml:2: rules.r.actions.a.statement has the placeholder ${temp}, but the rule has only the columns t",
                "url=" + URL
                        + ";statement=INSERT INTO t VALUES ('${t}') | smqtt.yaml:2: rules.r.actions.a.statement has ${t} inside of quotes",
                "url=" + URL
                        + ";statement=INSERT INTO t VALUES (${t[}) | smqtt.yaml:2: rules.r.actions.a.statement has a placeholder that is no path of a row: ${t[}",
                "url=" + URL + ";statement=" + INSERT + ";password-file=/none | is a file that cannot be read",
                "url=" + URL + ";statement=" + INSERT
                        + ";table=t | is no key of this type, which has url, username, password-file, statement",
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

    private static Sink open(String... keysAndValues) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            values.put(
                    keysAndValues[i],
                    new ConfigValue(keysAndValues[i + 1], "smqtt.yaml:" + (i / 2 + 1), Path.of("/etc")));
        }
        JdbcSinkFactory factory = new JdbcSinkFactory();
        RuleActionConfig config =
                RuleActionConfig.builder("jdbc").timeout(Duration.ofMillis(400)).build();
        SinkSettings settings = SinkSettings.of("rules.r.actions.a.", factory.settings(), values);
        return factory.open(new SinkContext("r", "a", config, settings, message -> Mono.empty(), Set.of("t")));
    }
}
