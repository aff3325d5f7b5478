// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.rules.sink.SinkSetting;
import io.smqtt.rules.sink.Source;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceFactory;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.test.RawClient;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Sources of the properties, with a type that is a bean. */
@Timeout(120)
class SourcesOfApplicationTest {

    private final Sinks.One<Map<String, Object>> arriving = Sinks.one();

    /** Makes sources of what the application hands over. */
    private final class HandOverFactory implements SourceFactory {

        @Override
        public String type() {
            return "hand-over";
        }

        @Override
        public List<SinkSetting> settings() {
            return List.of();
        }

        @Override
        public Source open(SourceContext context) {
            return new Source() {

                @Override
                public Mono<Void> run(SourceOutput out) {
                    return arriving.asMono().flatMap(out::publish).then(Mono.never());
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

    @Test
    void sourceThatIsABeanPublishesAndItsPlaceholdersAreLeftToIt() {
        Contexts.runner()
                .withBean(SourceFactory.class, HandOverFactory::new)
                .withPropertyValues(
                        "SITE=north",
                        "place=wrong",
                        "smqtt.sources.orders.type=hand-over",
                        "smqtt.sources.orders.topic=${SITE}/${place}",
                        "smqtt.sources.orders.payload={\"of\": \"${payload}\"}")
                .run(context -> {
                    try (RawClient subscriber = Contexts.client(context)) {
                        subscriber.connect("subscriber");
                        subscriber.subscribe("north/#", 1);
                        arriving.tryEmitValue(Map.of("place", "shop", SourceOutput.PAYLOAD, "a \"customer\""));
                        subscriber.expectPublish("north/shop", "{\"of\": \"a \\\"customer\\\"\"}");
                    }
                });
    }
}
