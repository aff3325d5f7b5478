// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.awaitility.Awaitility.await;

import io.smqtt.BrokerModule;
import io.smqtt.config.ClusterConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.test.BrokerExtension;
import io.smqtt.topic.TopicName;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

/** An event loop that starts the cluster changes retained messages later like all others. */
class RetainedOnLoopTest {

    private static final String TOPIC = "t";

    private final LoopbackHub hub = new LoopbackHub();
    private final OnLoop first = new OnLoop();
    private final OnLoop second = new OnLoop();

    @RegisterExtension
    final BrokerExtension a = broker("a", first);

    @RegisterExtension
    final BrokerExtension b = broker("b", second);

    private BrokerExtension broker(String nodeId, OnLoop before) {
        ClusterConfig config = ClusterConfig.builder().nodeId(nodeId).build();
        ClusterModule module = new ClusterModule(config, nodeId, hub.transport(nodeId), ClusterSettings.defaults());
        return new BrokerExtension(
                UnaryOperator.identity(), parts -> parts.module(before).module(module));
    }

    /** The module after this one is started on the first event loop. */
    private static final class OnLoop implements BrokerModule {

        private @Nullable Core core;

        @Override
        public Mono<Void> start(Core started) {
            core = started;
            return Mono.create(sink -> loop().executor().execute(sink::success));
        }

        @Override
        public Mono<Void> stop() {
            return Mono.empty();
        }

        private RoutingLoop loop() {
            return Objects.requireNonNull(core).router().loops().get(0);
        }

        void retain(String text) {
            Core started = Objects.requireNonNull(core);
            RoutingLoop loop = loop();
            ApplicationMessage message = ApplicationMessage.builder(TOPIC)
                    .payload(Payload.of(text.getBytes(StandardCharsets.UTF_8)))
                    .retain(true)
                    .build();
            loop.executor()
                    .execute(() -> started.sessions()
                            .retained()
                            .keep(
                                    loop,
                                    message.accepted(
                                            loop.nextMessageId(),
                                            started.ticker().nanoTime(),
                                            null),
                                    RouteTicket.NONE));
        }

        private String retained() {
            ApplicationMessage message =
                    Objects.requireNonNull(core).router().retained().get(TopicName.of(TOPIC));
            return message == null ? "" : new String(message.payload().toByteArray(), StandardCharsets.UTF_8);
        }

        void awaitRetained(String text) {
            await().atMost(BrokerCluster.PATIENCE).until(() -> retained().equals(text));
        }
    }

    @Test
    void itsChangesAreLaterThanThoseOfAnotherNodeThatItKnows() {
        first.retain("1");
        second.awaitRetained("1");
        second.retain("2");
        first.awaitRetained("2");

        first.retain("3");

        second.awaitRetained("3");
        first.awaitRetained("3");
    }
}
