// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.BrokerModule;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.session.AdoptionWatch;
import io.smqtt.session.NodeQueues;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.test.TestBroker;
import io.smqtt.test.store.ManualStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** The sessions of another node's store that its server does not serve. */
class LeftOutTest {

    private static final long HOUR = 3_600;

    private final ManualStore store = new ManualStore();
    private final List<List<String>> leftOut = new ArrayList<>();

    /** A module that sees the sessions of the broker. */
    private static final class Part implements BrokerModule {

        private volatile @Nullable Core core;

        @Override
        public Mono<Void> start(Core started) {
            core = started;
            return Mono.empty();
        }

        @Override
        public Mono<Void> stop() {
            return Mono.empty();
        }
    }

    private void found(String clientId, String... filters) {
        BrokerStore.CommitListener none = new BrokerStore.CommitListener() {
            @Override
            public void committed(long position) {
                // nothing waits
            }

            @Override
            public void failed(long position, Throwable cause) {
                throw new AssertionError(cause);
            }
        };
        StoreWriter writer = store.writer(Runnable::run, none);
        long number = store.newSession();
        writer.putSession(
                new StoredSession(number, clientId, null, HOUR, StoredSession.NEVER, null, StoredSession.CONNECTED));
        for (String filter : filters) {
            writer.putSubscription(number, new StoredSubscription(filter, QoS.AT_LEAST_ONCE, false, false, 0));
        }
        writer.flush();
    }

    /** The report of the broker about the adoption of the store. */
    private List<String> adopted(long maxSessionBytes) {
        Part part = new Part();
        try (TestBroker broker = TestBroker.builder()
                .config(config -> config.limits(
                        LimitsConfig.builder().maxSessionBytes(maxSessionBytes).build()))
                .parts(parts -> parts.module(part).store(new ManualStore()))
                .start()) {
            BrokerModule.Core core = Objects.requireNonNull(part.core);
            core.sessions().adoptions().watch(new AdoptionWatch() {
                @Override
                public void adopted(String home, long reign, List<String> filters, NodeQueues parked) {
                    leftOut.add(filters);
                }

                @Override
                public void ending(String home, Runnable done) {
                    done.run();
                }
            });
            core.sessions()
                    .adopt("home", 1, store.reopened(System::nanoTime))
                    .end()
                    .join();
        }
        assertThat(leftOut).hasSize(1);
        return leftOut.get(0);
    }

    @Test
    void consumersOfTheProcessAreLeftOut() {
        found("client", "mine");
        found("$in-process/consumer", "t/#", "$share/group/u");
        found(NodeQueues.id("other"), "route");

        assertThat(adopted(1_000_000)).containsExactly("t/#");
    }

    @Test
    void sessionsAboveTheLimitsAreLeftOut() {
        found("client", "mine");
        found("x".repeat(4_000), "large");

        assertThat(adopted(3_000)).containsExactly("large");
    }

    @Test
    void manyFiltersAreNotNamed() {
        found("client", "mine");
        for (int i = 0; i < 65; i++) {
            found("$in-process/" + i, "f/" + i);
        }

        assertThat(adopted(1_000_000)).containsExactly(AdoptionWatch.EVERYTHING);
    }

    @Test
    void aMessageMatchesAFilterThatIsLeftOut() {
        ApplicationMessage message =
                ApplicationMessage.builder("a/b").payload("x").build();

        assertThat(new LeftOut(List.of("c", "a/+")).matches(message)).isTrue();
        assertThat(new LeftOut(List.of("c", "a")).matches(message)).isFalse();
        assertThat(new LeftOut(List.of(AdoptionWatch.EVERYTHING)).matches(message))
                .isTrue();
        assertThat(LeftOut.NOTHING.matches(message)).isFalse();
        assertThat(LeftOut.NOTHING.isNothing()).isTrue();
    }
}
