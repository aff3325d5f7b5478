// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.RuleActionConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.rules.sink.BatchResult.Refusal;
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

class RabbitmqSinkFactoryTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Test
    void theServiceLoaderFindsIt() {
        assertThat(ServiceLoader.load(SinkFactory.class))
                .extracting(SinkFactory::type)
                .contains("rabbitmq");
    }

    @Test
    void pageHasTheKeys() throws IOException {
        SinkPage.assertHasKeysOf(List.of(new RabbitmqSinkFactory()));
    }

    @Test
    void serverThatIsAwayMayComeBack() {
        SinkRecord row = new SinkRecord(
                Map.of("t", 1L), ApplicationMessage.builder("a").payload("x").build());
        Sink sink = open("url", "amqp://127.0.0.1:1", "routing-key", "k");
        assertThat(sink.send(List.of(row)).block(PATIENCE).refusals())
                .containsExactly(new Refusal(0, "no answer: Connection refused", true));
        assertThatThrownBy(() -> sink.check().block(PATIENCE)).hasMessage("no answer: Connection refused");
        sink.close();

        assertThatThrownBy(() -> sink.send(List.of(row)).block(PATIENCE))
                .isInstanceOf(SinkException.class)
                .hasMessage("the sink is closed");
        assertThatThrownBy(() -> sink.check().block(PATIENCE)).hasMessage("the sink is closed");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "url=http://h;routing-key=k | smqtt.yaml:1: rules.r.actions.a.url must be amqp://HOST:PORT",
                "url=amqp://u:p@h;routing-key=k | user, password and virtual host have keys of their own",
                "url=amqp://h/v;routing-key=k | user, password and virtual host have keys of their own",
                "url=amqp://a amqps://b;routing-key=k | must have only amqp:// or only amqps://",
                "url=amqp://a;ca=/none;routing-key=k | ca needs amqps://",
                "url=amqps://a;ca=/none;routing-key=k | ca has no certificates of authorities",
                "url=amqps://a;certificate=/none;routing-key=k | certificate and private-key must be set together",
                "url=amqps://a;certificate=/none;private-key=/none;routing-key=k | certificate and private-key are not a certificate and its key",
                "url=amqp://a;username=u;routing-key=k | username and password-file must be set together",
                "url=amqp://a;username=u;password-file=/none;routing-key=k | password-file is a file that cannot be read",
                "url=amqp://a | routing-key must be set without an exchange",
                "url=amqp://a;exchange=e;routing-key=${temp} | smqtt.yaml:3: rules.r.actions.a.routing-key has the placeholder ${temp}, but the rule has only the columns t",
                "url=amqp://a;routing-key=k;properties.user-id=u | properties.user-id is no property of a message; there are app-id, content-encoding,",
                "url=amqp://a;routing-key=k;heartbeat=0s | heartbeat must be a duration such as 5s from 1s to 10m",
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
        RabbitmqSinkFactory factory = new RabbitmqSinkFactory();
        RuleActionConfig config = RuleActionConfig.builder("rabbitmq")
                .timeout(Duration.ofSeconds(2))
                .build();
        SinkSettings settings = SinkSettings.of("rules.r.actions.a.", factory.settings(), values);
        return factory.open(new SinkContext("r", "a", config, settings, message -> Mono.empty(), Set.of("t")));
    }
}
