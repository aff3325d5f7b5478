// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

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

class RedisSinkFactoryTest {

    private static final String URL = "redis://127.0.0.1:1";
    private static final String SET = "SET k ${t}";
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Test
    void theServiceLoaderFindsIt() {
        assertThat(ServiceLoader.load(SinkFactory.class))
                .extracting(SinkFactory::type)
                .contains("redis");
    }

    @Test
    void pageHasTheKeys() throws IOException {
        SinkPage.assertHasKeysOf(List.of(new RedisSinkFactory()));
    }

    @Test
    void serverThatIsAwayMayComeBack() {
        SinkRecord row = new SinkRecord(
                Map.of("t", 1L), ApplicationMessage.builder("a").payload("x").build());
        for (String mode : List.of("single", "cluster")) {
            try (Sink sink = open("url", URL, "mode", mode, "command", SET)) {
                assertThatThrownBy(() -> sink.send(List.of(row)).block(PATIENCE))
                        .isInstanceOfSatisfying(SinkException.class, error -> {
                            assertThat(error.isRecoverable()).isTrue();
                            assertThat(error).hasMessageContaining("no answer: ");
                        });
                assertThatThrownBy(() -> sink.check().block(PATIENCE)).isInstanceOf(SinkException.class);
                sink.close();
                assertThatThrownBy(() -> sink.send(List.of(row)).block(PATIENCE))
                        .hasMessageContaining("the sink is closed");
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "url=http://h;command=" + SET + " | smqtt.yaml:1: rules.r.actions.a.url must be redis://HOST:PORT",
                "url=redis://u:p@h;command=" + SET + " | user, password and database have keys of their own",
                "url=redis://a rediss://b;mode=cluster;command=" + SET + " | must have only redis:// or only rediss://",
                "url=redis://a redis://b;command=" + SET
                        + " | has several servers, which need mode: sentinel or cluster",
                "url=redis://a;mode=sentinel;command=" + SET + " | sentinel-master must be set for mode: sentinel",
                "url=redis://a;sentinel-master=m;command=" + SET + " | sentinel-master is for mode: sentinel",
                "url=redis://a;mode=cluster;database=1;command=" + SET + " | database must be 0 for a cluster",
                "url=redis://a;ca=/none;command=" + SET + " | ca needs rediss://",
                "url=rediss://a;ca=/none;command=" + SET + " | ca has no certificates of authorities",
                "url=redis://a;username=u;command=" + SET + " | username needs password-file",
                "url=" + URL + " | rules.r.actions.a.command must be set",
                "url=" + URL
                        + ";command=SET k ${temp} | smqtt.yaml:2: rules.r.actions.a.command has the placeholder ${temp}, but the rule has only the columns t",
                "url=" + URL + ";command=MONITOR now | smqtt.yaml:2: rules.r.actions.a.command cannot be MONITOR",
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
        RedisSinkFactory factory = new RedisSinkFactory();
        RuleActionConfig config =
                RuleActionConfig.builder("redis").timeout(Duration.ofSeconds(2)).build();
        SinkSettings settings = SinkSettings.of("rules.r.actions.a.", factory.settings(), values);
        return factory.open(new SinkContext("r", "a", config, settings, message -> Mono.empty(), Set.of("t")));
    }
}
