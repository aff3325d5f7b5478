// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.BrokerConfig;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.rules.sink.SinkSetting;
import io.smqtt.test.RawClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.ByteArrayResource;
import reactor.core.publisher.Mono;

/** Rules of the properties, with the example of {@code docs/spring.md} and a type of sinks that is a bean. */
@Timeout(120)
class RulesOfApplicationTest {

    private final List<String> lines = new CopyOnWriteArrayList<>();

    /** Makes sinks that keep lines in memory. */
    private final class LedgerSinkFactory implements SinkFactory {

        @Override
        public String type() {
            return "ledger";
        }

        @Override
        public List<SinkSetting> settings() {
            return List.of(SinkSetting.template("line", null, "the line").required());
        }

        @Override
        public Sink open(SinkContext context) {
            var line = context.settings().templateOrNull("line");
            return new Sink() {

                @Override
                public Mono<BatchResult> send(List<SinkRecord> batch) {
                    return Mono.fromCallable(() -> {
                        batch.forEach(one -> lines.add(line.text(one.row())));
                        return BatchResult.DONE;
                    });
                }

                @Override
                public Mono<Void> check() {
                    return Mono.empty();
                }

                @Override
                public void close() {}
            };
        }
    }

    private static PropertySource<?> example() throws IOException {
        Matcher block = Pattern.compile("(?ms)^```yaml\n(smqtt:\n  rules:.*?)^```$")
                .matcher(Files.readString(Path.of("../docs/spring.md")));
        assertThat(block.find()).isTrue();
        return new YamlPropertySourceLoader()
                .load("example", new ByteArrayResource(block.group(1).getBytes(StandardCharsets.UTF_8)))
                .get(0);
    }

    @Test
    void theRuleOfTheDocumentUsesTheSinkThatIsABean() throws IOException {
        PropertySource<?> properties = example();
        Contexts.runner()
                .withBean(SinkFactory.class, LedgerSinkFactory::new)
                .withInitializer(
                        context -> context.getEnvironment().getPropertySources().addFirst(properties))
                .withPropertyValues("t=wrong", "SITE=north")
                .run(context -> {
                    try (RawClient subscriber = Contexts.client(context);
                            RawClient device = Contexts.client(context)) {
                        subscriber.connect("subscriber");
                        subscriber.subscribe("alarms/#", 1);
                        device.connect("kitchen");
                        device.publish("sensors/1", "{\"t\": 41.5}", 1);
                        subscriber.expectPublish("alarms/north/kitchen", "41.5 degrees");
                    }
                    await().untilAsserted(() -> assertThat(lines).containsExactly("kitchen 41.5"));
                });
    }

    @Test
    void placeholdersOfRulesAreLeftToThemAndOthersAreResolved() {
        Map<String, Object> properties = new HashMap<>(Map.of(
                "smqtt.rules.hot.sql", "SELECT * FROM \"a\"",
                "smqtt.rules.hot.actions.hook.type", "http",
                "smqtt.rules.hot.actions.hook.url", "${HOOK_HOST}/${host:none}/${payload.host}",
                "smqtt.rules.hot.actions.hook.body", "\\${T} ${t} ${.}",
                "smqtt.rules.hot.actions.hook.headers.x-site", "${site}",
                "HOOK_HOST", "http://hooks.example",
                "host", "h",
                "site", "wrong",
                "T", "wrong"));
        StandardEnvironment environment = new StandardEnvironment();
        environment.getPropertySources().remove(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
        environment.getPropertySources().addFirst(new MapPropertySource("test", properties));

        BrokerConfig config = SmqttProperties.of(environment, bound -> bound).broker();

        Map<String, String> settings = new HashMap<>();
        config.rules()
                .get("hot")
                .actions()
                .get("hook")
                .settings()
                .forEach((key, value) -> settings.put(key, value.text()));
        assertThat(settings)
                .containsEntry("url", "http://hooks.example/h/${payload.host}")
                .containsEntry("body", "${T} ${t} ${.}")
                .containsEntry("headers.x-site", "${site}");
    }
}
