// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.StreamMessage;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.SourceConfig;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkPage;
import io.smqtt.rules.sink.SinkSettings;
import io.smqtt.rules.sink.Source;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceFactory;
import io.smqtt.rules.sink.SourceOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class RedisSourceFactoryTest {

    private static final String URL = "redis://127.0.0.1:1";
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final SourceOutput NOWHERE = new SourceOutput() {
        @Override
        public Mono<Boolean> publish(Map<String, @Nullable Object> columns) {
            return Mono.just(true);
        }

        @Override
        public boolean isPaused() {
            return false;
        }

        @Override
        public void rejected(String reason) {}

        @Override
        public void failing(String reason) {}

        @Override
        public void working() {}
    };

    @Test
    void theServiceLoaderFindsIt() {
        assertThat(ServiceLoader.load(SourceFactory.class))
                .extracting(SourceFactory::type)
                .contains("redis");
    }

    @Test
    void pageHasTheKeys() throws IOException {
        SinkPage.assertHasKeys("source redis", new RedisSourceFactory().settings());
    }

    @Test
    void aServerThatIsAwayEndsTheRun() {
        try (Source source = open(SourceConfig.Nodes.ONE, "url", URL, "stream", "s", "group", "g")) {
            assertThatThrownBy(() -> source.run(NOWHERE).block(PATIENCE))
                    .isInstanceOf(SinkException.class)
                    .hasMessageContaining("no answer: ");
            assertThatThrownBy(() -> source.check().block(PATIENCE)).hasMessageContaining("no answer: ");
            source.close();
            assertThatThrownBy(() -> source.run(NOWHERE).block(PATIENCE)).hasMessage("the source is closed");
        }
    }

    @Test
    void wrongSettingsStopTheStart() {
        assertThatThrownBy(() -> open(SourceConfig.Nodes.ONE, "url", "http://h", "stream", "s", "group", "g"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("sources.s.url must be redis://HOST:PORT");
        assertThatThrownBy(() -> open(SourceConfig.Nodes.ONE, "url", URL))
                .hasMessageContaining("sources.s.stream must be set")
                .hasMessageContaining("sources.s.group must be set");
    }

    @Test
    void aNodeThatIsNotAloneHasANameOfItsOwn() {
        String[] keys = {"url", URL, "stream", "s", "group", "g"};
        assertThat(StreamPlace.of(context(SourceConfig.Nodes.ONE, keys)).consumer())
                .isEqualTo("smqtt");
        assertThat(StreamPlace.of(context(SourceConfig.Nodes.EACH, keys)).consumer())
                .startsWith("smqtt-");
        assertThat(StreamPlace.of(context(
                                SourceConfig.Nodes.EACH, "url", URL, "stream", "s", "group", "g", "consumer", "c"))
                        .consumer())
                .isEqualTo("c");
    }

    @Test
    void columnsAreThoseOfTheEntry() {
        Map<byte[], byte[]> fields = new LinkedHashMap<>();
        fields.put(bytes("t"), bytes("21"));
        fields.put(bytes("raw"), new byte[] {-1});
        Map<String, @Nullable Object> columns = EntryColumns.of("s", new StreamMessage<>(bytes("s"), "1-0", fields));
        assertThat(columns)
                .containsEntry("id", "1-0")
                .containsEntry("stream", "s")
                .extracting("fields")
                .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.MAP)
                .containsEntry("t", "21")
                .containsEntry("raw", new byte[] {-1});
        assertThat(String.valueOf(columns.get("payload"))).startsWith("{\"t\":\"21\",\"raw\":");

        fields.put(bytes("payload"), bytes("whole"));
        assertThat(EntryColumns.of("s", new StreamMessage<>(bytes("s"), "1-0", fields)))
                .containsEntry("payload", "whole");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static Source open(SourceConfig.Nodes nodes, String... keysAndValues) {
        return new RedisSourceFactory().open(context(nodes, keysAndValues));
    }

    private static SourceContext context(SourceConfig.Nodes nodes, String... keysAndValues) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            values.put(keysAndValues[i], new ConfigValue(keysAndValues[i + 1], "test", Path.of("/etc")));
        }
        SourceConfig config = SourceConfig.builder("redis", "t").nodes(nodes).build();
        return new SourceContext(
                "s", config, SinkSettings.of("sources.s.", new RedisSourceFactory().settings(), values));
    }
}
