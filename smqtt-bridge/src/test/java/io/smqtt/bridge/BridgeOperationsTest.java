// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.BridgeConfig;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.spi.BridgeStatus.State;
import io.smqtt.spi.Bridges.Operation;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What operators see of a bridge, and do to it. */
class BridgeOperationsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static BridgeConfig to(int port) {
        return BridgeConfig.builder("127.0.0.1:" + port, "out/# out 1", "in/# in 1")
                .clientId(DialledBroker.ID)
                .minDelay(Duration.ofMillis(20))
                .maxDelay(Duration.ofMillis(50))
                .build();
    }

    private static void awaitState(DialledBroker broker, State state) {
        await().atMost(PATIENCE).until(() -> broker.status().state() == state);
    }

    @Test
    void theStatusCountsWhatPasses() throws Exception {
        try (DialledBroker remote = DialledBroker.without(0);
                DialledBroker local = DialledBroker.with(to(remote.port()));
                RawClient there = remote.client("there");
                RawClient here = local.client("here")) {
            there.subscribe("out/#", 1);
            here.subscribe("in/#", 1);
            awaitState(local, State.CONNECTED);
            await().atMost(PATIENCE).until(() -> remote.isSubscribed("in/#") && local.isSubscribed("out/#"));

            here.publish("out/a", "1", 1);
            here.publish("out/b", "2", 0);
            there.expectPublish("out/a", "1");
            there.expectPublish("out/b", "2");
            there.publish("in/a", "3", 1);
            here.expectPublish("in/a", "3");

            BridgeStatus status = local.status();
            assertThat(status.name()).isEqualTo("cloud");
            assertThat(status.address()).isEqualTo("127.0.0.1:" + remote.port());
            assertThat(status.sent()).isEqualTo(2);
            assertThat(status.received()).isEqualTo(1);
            assertThat(status.resent()).isZero();
            assertThat(status.dropped()).isZero();
            assertThat(status.queued()).isZero();
            assertThat(status.rttNanos()).isPositive();
            assertThat(status.lastError()).isNull();
        }
    }

    @Test
    void aStoppedBridgeQueuesAndSendsWhenItIsStarted() throws Exception {
        try (DialledBroker remote = DialledBroker.without(0);
                DialledBroker local = DialledBroker.with(to(remote.port()));
                RawClient there = remote.client("there");
                RawClient here = local.client("here")) {
            there.subscribe("out/#", 1);
            await().atMost(PATIENCE).until(() -> local.isSubscribed("out/#"));

            assertThat(local.module().operate("cloud", Operation.STOP)).isTrue();
            await().atMost(PATIENCE).until(() -> remote.bridgesHere().isEmpty());
            assertThat(local.status().state()).isEqualTo(State.STOPPED);
            for (int i = 0; i < 10; i++) {
                here.publish("out/a", "waits" + i, 1);
            }
            await().atMost(PATIENCE).until(() -> local.status().queued() == 10);
            assertThat(local.module().operate("cloud", Operation.STOP)).isTrue();
            there.expectNothing();

            assertThat(local.module().operate("cloud", Operation.START)).isTrue();
            for (int i = 0; i < 10; i++) {
                there.expectPublish("out/a", "waits" + i);
            }
            awaitState(local, State.CONNECTED);
            assertThat(local.status().sent()).isEqualTo(10);
        }
    }

    @Test
    void aRestartIsANewConnection() throws Exception {
        try (DialledBroker remote = DialledBroker.without(0);
                DialledBroker local = DialledBroker.with(to(remote.port()))) {
            awaitState(local, State.CONNECTED);
            List<InetSocketAddress> first = remote.bridgesHere();
            assertThat(first).hasSize(1);

            local.module().operate("cloud", Operation.RESTART);

            await().atMost(PATIENCE)
                    .until(() -> local.status().state() == State.CONNECTED
                            && remote.bridgesHere().size() == 1
                            && !remote.bridgesHere().equals(first));
            assertThat(local.status().lastError()).isNull();
        }
    }

    @Test
    void operationsInQuickSuccessionLeaveOneConnection() throws Exception {
        try (DialledBroker remote = DialledBroker.without(0);
                DialledBroker local = DialledBroker.with(to(remote.port()))) {
            for (int i = 0; i < 50; i++) {
                local.module().operate("cloud", Operation.values()[i % 3]);
            }
            local.module().operate("cloud", Operation.START);

            awaitState(local, State.CONNECTED);
            await().atMost(PATIENCE).until(() -> remote.bridgesHere().size() == 1);
            await().during(Duration.ofMillis(200))
                    .atMost(PATIENCE)
                    .until(() ->
                            remote.bridgesHere().size() == 1 && local.status().state() == State.CONNECTED);

            local.module().operate("cloud", Operation.STOP);
            await().atMost(PATIENCE).until(() -> remote.bridgesHere().isEmpty());
        }
    }

    @Test
    void aRemoteThatIsAwayIsTheLastError() throws Exception {
        int port = LoopbackPorts.one();
        try (DialledBroker local = DialledBroker.with(to(port))) {
            awaitState(local, State.DISCONNECTED);
            assertThat(local.status().lastError()).contains("refused");
            assertThat(local.module().operate("other", Operation.START)).isFalse();

            try (DialledBroker remote = DialledBroker.without(port)) {
                assertThat(remote.port()).isEqualTo(port);
                awaitState(local, State.CONNECTED);
                assertThat(local.status().lastError()).contains("refused");
            }

            awaitState(local, State.DISCONNECTED);
            local.module().operate("cloud", Operation.STOP);
            assertThat(local.status().state()).isEqualTo(State.STOPPED);
        }
    }
}
