// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.ApplicationParts;
import io.smqtt.Broker;
import io.smqtt.BrokerComposition;
import io.smqtt.ConsumerOptions;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.SourceConfig;
import io.smqtt.rules.sink.SinkSetting;
import io.smqtt.rules.sink.Source;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceFactory;
import io.smqtt.rules.sink.SourceOutput;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** A type of sources that an application has made, in a broker that it embeds. */
class SourcesOfApplicationTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final BrokerConfig CONFIG = BrokerConfig.builder()
            .listeners(Map.of())
            .sources(Map.of(
                    "till",
                    SourceConfig.builder("counter", "sales/${number}")
                            .retain(true)
                            .settings(Map.of("number", new ConfigValue("7", "test", Path.of(""))))
                            .build()))
            .build();

    /** Makes sources that publish one message. */
    private static final class CounterFactory implements SourceFactory {

        @Override
        public String type() {
            return "counter";
        }

        @Override
        public List<SinkSetting> settings() {
            return List.of(SinkSetting.text("number", null, "the number").required());
        }

        @Override
        public Source open(SourceContext context) {
            return new Source() {

                @Override
                public Mono<Void> run(SourceOutput out) {
                    return out.publish(Map.of(
                                    SourceOutput.PAYLOAD,
                                    "sold",
                                    "number",
                                    context.settings().text("number")))
                            .then(Mono.never());
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

    private static BrokerComposition composition(SourceFactory... factories) {
        return BrokerComposition.ofApplication(CONFIG, SourcesOfApplicationTest.class.getClassLoader())
                .parts(new ApplicationParts() {
                    @Override
                    public <T> List<T> of(Class<T> type) {
                        return List.of(factories).stream()
                                .filter(type::isInstance)
                                .map(type::cast)
                                .toList();
                    }
                });
    }

    @Test
    void sourceOfTheApplicationPublishes() {
        BrokerComposition composition = composition(new CounterFactory());
        composition.check();
        Broker broker = composition.start();
        try {
            assertThat(broker.receive("sales/#", ConsumerOptions.DEFAULTS)
                            .next()
                            .map(received -> received.message().topic().value() + " "
                                    + received.message().payload().asString())
                            .block(PATIENCE))
                    .isEqualTo("sales/7 sold");
        } finally {
            broker.close(PATIENCE).block(PATIENCE);
        }
    }

    @Test
    void typeThatIsMissingOrThereTwiceStopsTheStart() {
        assertThatThrownBy(composition()::check)
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("sources.till.type is counter, but the types that are present are http");
        assertThatThrownBy(composition(new CounterFactory(), new CounterFactory())::start)
                .hasMessageContaining("two sources of the application have the type counter");
    }
}
