// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.Broker;
import io.smqtt.BrokerModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscriber;
import io.smqtt.routing.Subscription;
import io.smqtt.topic.TopicFilter;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class BrokerViewTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Test
    void theRoutesOfOtherNodesAreNoSubscriptions() {
        BrokerView view = new BrokerView();
        BrokerModule peers = new BrokerModule() {

            @Override
            public Mono<Void> start(Core core) {
                return Mono.fromRunnable(() -> {
                    core.router().index().add(to("theirs", new Somebody("peer", "elsewhere")));
                    core.router().index().add(to("ours", new Somebody("client", null)));
                });
            }

            @Override
            public Mono<Void> stop() {
                return Mono.empty();
            }
        };
        ListenerConfig tcp = ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build();
        Broker broker = Objects.requireNonNull(Broker.builder()
                .config(BrokerConfig.builder().listeners(Map.of("tcp", tcp)).build())
                .module(view)
                .module(peers)
                .start()
                .block(PATIENCE));

        try {
            assertThat(Objects.requireNonNull(view.subscriptions(new Cut(Cut.START, 0, 10), subscription -> true)
                                    .block(PATIENCE))
                            .rows())
                    .containsExactly(new SubscriptionInfo("client", "ours", null, QoS.AT_MOST_ONCE, false, false));
        } finally {
            broker.close(Duration.ofSeconds(1)).block(PATIENCE);
        }
    }

    private static Subscription to(String filter, Subscriber subscriber) {
        return new Subscription(
                subscriber, TopicFilter.of(filter), null, QoS.AT_MOST_ONCE, false, false, Subscription.NO_IDENTIFIER);
    }

    /**
     * A client, or a relay.
     *
     * @param id who it is
     * @param relaysTo the place of others that it stands for
     */
    private record Somebody(String id, @Nullable String relaysTo) implements Subscriber {

        @Override
        public @Nullable RoutingLoop owner() {
            return null;
        }

        @Override
        public void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
            throw new AssertionError("nothing is delivered here");
        }

        @Override
        public boolean isOnline() {
            return true;
        }

        @Override
        public int inFlightCount() {
            return 0;
        }
    }
}
