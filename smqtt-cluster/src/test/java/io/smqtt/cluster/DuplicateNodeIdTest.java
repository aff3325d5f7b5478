// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.smqtt.Broker;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ListenerConfig;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterStatus.PeerStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Several processes that say that they are the same node. */
class DuplicateNodeIdTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final LoopbackHub hub = new LoopbackHub();
    private final List<Broker> brokers = new ArrayList<>();

    /** A process, which need not start. */
    private final class Process {

        private final String name;
        private final ClusterModule module;

        Process(String name, String nodeId, String bind) {
            this.name = name;
            this.module = new ClusterModule(
                    ClusterConfig.builder().bind(bind).build(),
                    nodeId,
                    hub.transport(name),
                    ClusterSettings.defaults());
        }

        CompletableFuture<Broker> start() {
            ListenerConfig tcp =
                    ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build();
            return Broker.builder()
                    .config(BrokerConfig.builder().listeners(Map.of("tcp", tcp)).build())
                    .module(module)
                    .start()
                    .toFuture();
        }

        Process started() {
            brokers.add(
                    start().orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join());
            return this;
        }

        long epoch() {
            return module.status().self().epoch();
        }

        ClusterStatus.State state() {
            return module.status().state();
        }

        /** Whether another node has said that it listens to somebody else. */
        boolean isToldOfAnother() {
            ClusterNode running = module.node();
            return running != null
                    && CompletableFuture.supplyAsync(
                                            () -> running.membership()
                                                    .duplicates()
                                                    .reported(running.nanoTime()),
                                            running::execute)
                                    .join()
                            != null;
        }

        /** Which run of another node it sees, and can reach; 0 for none. */
        long reached(String nodeId) {
            return module.status().peers().stream()
                    .filter(peer -> peer.reachable() && peer.node().nodeId().equals(nodeId))
                    .map(PeerStatus::node)
                    .mapToLong(ClusterStatus.Node::epoch)
                    .findFirst()
                    .orElse(0);
        }

        void awaitMeeting(Process other, String nodeId) {
            await().atMost(PATIENCE).until(() -> reached(nodeId) == other.epoch());
        }
    }

    @AfterEach
    void stop() {
        brokers.forEach(broker -> broker.close(Duration.ofSeconds(10)).block(PATIENCE));
    }

    private static ConfigurationException refusal(CompletableFuture<Broker> start) {
        Throwable failure = catchThrowable(start::join);
        assertThat(failure).isNotNull();
        Throwable cause = failure.getCause();
        assertThat(cause).isInstanceOf(ConfigurationException.class);
        return (ConfigurationException) Objects.requireNonNull(cause);
    }

    @Test
    void whoComesLaterIsRefusedAndTheFirstGoesOn() {
        Process first = new Process("first", "n1", "127.0.0.1:1").started();
        Process other = new Process("other", "n2", "127.0.0.1:2").started();
        other.awaitMeeting(first, "n1");

        ConfigurationException refusal = refusal(new Process("double", "n1", "127.0.0.1:3").start());

        assertThat(refusal).hasMessageContaining("cluster.node-id").hasMessageContaining("127.0.0.1:1");
        assertThat(other.reached("n1")).isEqualTo(first.epoch());
        assertThat(first.reached("n2")).isEqualTo(other.epoch());
        assertThat(first.state()).isEqualTo(ClusterStatus.State.JOINED);
    }

    @Test
    void withoutAThirdNodeTheFirstOneStays() {
        Process first = new Process("first", "n1", "127.0.0.1:1").started();

        assertThat(refusal(new Process("double", "n1", "127.0.0.1:3").start())).hasMessageContaining("127.0.0.1:1");

        assertThat(first.state()).isEqualTo(ClusterStatus.State.JOINED);
    }

    @Test
    void ofTwoThatStartTogetherOneStays() {
        Process other = new Process("other", "n2", "127.0.0.1:2").started();
        List<Process> both =
                List.of(new Process("left", "n1", "127.0.0.1:1"), new Process("right", "n1", "127.0.0.1:3"));

        List<CompletableFuture<Broker>> starts =
                both.stream().map(Process::start).toList();

        List<Throwable> failures = Stream.of(starts.get(0), starts.get(1))
                .map(start -> start.handle((broker, failure) -> {
                            if (broker != null) {
                                brokers.add(broker);
                            }
                            return failure;
                        })
                        .join())
                .filter(Objects::nonNull)
                .toList();
        assertThat(failures).singleElement().isInstanceOf(ConfigurationException.class);
        Process left = both.get(starts.get(0).isCompletedExceptionally() ? 1 : 0);
        assertThat(left.state()).isEqualTo(ClusterStatus.State.JOINED);
        other.awaitMeeting(left, "n1");
        left.awaitMeeting(other, "n2");
    }

    @Test
    void whoSaysNothingIsWaitedForUntilTheOthersKnowThatItIsGone() {
        Process first = new Process("first", "n1", "127.0.0.1:1").started();
        Process other = new Process("other", "n2", "127.0.0.1:2").started();
        other.awaitMeeting(first, "n1");
        hub.neverMeet("first", "double"); // as if it were frozen
        Process twin = new Process("double", "n1", "127.0.0.1:3");

        CompletableFuture<Broker> start = twin.start();
        await().atMost(PATIENCE).until(() -> twin.isToldOfAnother());
        assertThat(other.reached("n1")).isEqualTo(first.epoch());
        assertThat(start).isNotDone();
        hub.cut("first", "other");

        assertThat(start).succeedsWithin(PATIENCE).satisfies(brokers::add);
        other.awaitMeeting(twin, "n1");
    }

    @Test
    void whoStartsAgainAtTheSameAddressIsThereThoughNobodyHasNoticedItsEnd() {
        Process first = new Process("first", "n1", "127.0.0.1:1").started();
        Process other = new Process("other", "n2", "127.0.0.1:2").started();
        other.awaitMeeting(first, "n1");
        hub.crash("first");

        Process again = new Process("again", "n1", "127.0.0.1:1").started();

        other.awaitMeeting(again, "n1");
        again.awaitMeeting(other, "n2");
    }

    @Test
    void whoStartsAgainElsewhereIsThereWhenTheOthersHaveNoticedItsEnd() {
        Process first = new Process("first", "n1", "127.0.0.1:1").started();
        Process other = new Process("other", "n2", "127.0.0.1:2").started();
        other.awaitMeeting(first, "n1");
        hub.crash("first");
        Process again = new Process("again", "n1", "127.0.0.1:3");
        CompletableFuture<Broker> start = again.start();
        await().atMost(PATIENCE).until(() -> again.isToldOfAnother());

        hub.noticed("first");

        assertThat(start).succeedsWithin(PATIENCE).satisfies(brokers::add);
        other.awaitMeeting(again, "n1");
    }

    @Tag("slow")
    @Test
    void ofTwoThatMeetWhenBothServeClientsTheLaterOneLeaves() {
        hub.neverMeet("first", "double");
        Process first = new Process("first", "n1", "127.0.0.1:1").started();
        await().atMost(PATIENCE).until(() -> System.currentTimeMillis() << 16 > first.epoch() + (1L << 16));
        Process twin = new Process("double", "n1", "127.0.0.1:3").started();
        Process other = new Process("other", "n2", "127.0.0.1:2").started();

        hub.heal("first", "double");

        await().atMost(PATIENCE).until(() -> twin.state() == ClusterStatus.State.LEAVING);
        other.awaitMeeting(first, "n1");
        first.awaitMeeting(other, "n2");
        assertThat(first.state()).isEqualTo(ClusterStatus.State.JOINED);
    }
}
