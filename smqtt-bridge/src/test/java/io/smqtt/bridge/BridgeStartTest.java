// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BridgeConfigBuilder;
import io.smqtt.config.ConfigurationException;
import io.smqtt.spi.BridgeStatus.State;
import io.smqtt.spi.Bridges.Operation;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PropertyBytes;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When a bridge connects: once, or when messages wait. */
@Timeout(120)
class BridgeStartTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final RemoteStub remote = new RemoteStub();

    @AfterEach
    void close() {
        remote.close();
    }

    private BridgeConfigBuilder config(BridgeConfig.Start start) {
        return BridgedBroker.bridge(remote.address(), "a/# out 1")
                .start(start)
                .threshold(3)
                .idleTimeout(Duration.ofSeconds(1))
                .hopLimit(0);
    }

    private static void awaitState(DialledBroker broker, State state) {
        await().atMost(PATIENCE).until(() -> broker.status().state() == state);
    }

    private static void awaitQueued(DialledBroker broker, int count) {
        await().atMost(PATIENCE).until(() -> broker.status().queued() == count);
    }

    private void takeThree(String name) {
        RawClient bridge = remote.accept(PropertyBytes.none());
        for (int i = 0; i < 3; i++) {
            ReceivedPacket message = RemoteStub.nextPublish(bridge);
            assertThat(message.text()).isEqualTo(name + i);
            if (message.qos() > 0) {
                bridge.pubAck(message);
            }
        }
        RemoteStub.next(bridge, MqttMessageType.DISCONNECT); // nothing passes any more
        bridge.expectClosed();
    }

    @Test
    void aLazyBridgeConnectsWhenEnoughMessagesWaitUntilNoneHasPassedForSomeTime() {
        try (DialledBroker broker =
                        DialledBroker.with(config(BridgeConfig.Start.LAZY).build());
                RawClient client = broker.client("publisher")) {
            for (String name : new String[] {"m", "n"}) {
                awaitState(broker, State.STANDBY);
                client.publish("a/b", name + 0, 1);
                client.publish("a/b", name + 1, 0);
                awaitQueued(broker, 2);
                assertThat(broker.status().state()).isEqualTo(State.STANDBY);
                client.publish("a/b", name + 2, 1);
                takeThree(name);
            }
            awaitState(broker, State.STANDBY);
            assertThat(broker.status().sent()).isEqualTo(6);
            assertThat(broker.status().lastError()).isNull();
        }
    }

    @Test
    void theConnectionEndsWhenNothingWaitsIsInFlightOrHasPassed() {
        LazyStart lazy = new LazyStart(config(BridgeConfig.Start.LAZY).build());
        LazyStart.View quiet = new LazyStart.View(true, 0, 0, 5);
        long second = 1_000_000_000L;

        lazy.connected(quiet, 0);
        assertThat(lazy.isIdle(quiet, second - 1)).isFalse();
        assertThat(lazy.isIdle(quiet, second)).isTrue();
        assertThat(lazy.isIdle(new LazyStart.View(true, 0, 1, 5), 2 * second)).isFalse();
        assertThat(lazy.isIdle(quiet, 3 * second - 1)).isFalse();
        assertThat(lazy.isIdle(new LazyStart.View(true, 1, 0, 5), 4 * second)).isFalse();
        assertThat(lazy.isIdle(new LazyStart.View(true, 0, 0, 6), 5 * second)).isFalse();
        assertThat(lazy.isIdle(new LazyStart.View(true, 0, 0, 6), 6 * second)).isTrue();
    }

    /** Each of several connections has its part, and a session that is not there can have no messages. */
    @Test
    void theConnectionBeginsAtTheThreshold() {
        LazyStart lazy = new LazyStart(
                config(BridgeConfig.Start.LAZY).threshold(10).connections(3).build());

        assertThat(lazy.begins(new LazyStart.View(true, 2, 0, 0))).isFalse();
        assertThat(lazy.begins(new LazyStart.View(true, 3, 0, 0))).isTrue();
        assertThat(lazy.begins(new LazyStart.View(false, 0, 0, 0))).isTrue();
    }

    @Test
    void anOperatorStartsALazyBridgeAtOnce() {
        try (DialledBroker broker =
                DialledBroker.with(config(BridgeConfig.Start.LAZY).build())) {
            broker.module().operate("cloud", Operation.START);
            remote.accept(PropertyBytes.none());
            awaitState(broker, State.CONNECTED);
            broker.module().operate("cloud", Operation.STOP);
            awaitState(broker, State.STOPPED);
        }
    }

    @Test
    void aLazyBridgeHasNoTopicsThatComeIn() {
        BridgeConfigBuilder lazy =
                BridgedBroker.bridge("localhost:1", "a out", "b in").start(BridgeConfig.Start.LAZY);

        assertThatThrownBy(lazy::build)
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("bridges.<name>.start must not be lazy for topics that come in");
    }

    @Test
    void soManyMessagesMustFitInTheQueue() {
        assertThatThrownBy(() -> config(BridgeConfig.Start.LAZY)
                        .threshold(11)
                        .maxQueuedMessages(10)
                        .build())
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("bridges.<name>.threshold must not be more than max-queued-messages");
    }

    @Test
    void aBridgeThatStartsOnceMakesOneConnection() {
        try (DialledBroker broker =
                        DialledBroker.with(config(BridgeConfig.Start.ONCE).build());
                RawClient client = broker.client("publisher")) {
            RawClient bridge = remote.accept(PropertyBytes.none());
            awaitState(broker, State.CONNECTED);
            bridge.close();
            awaitState(broker, State.STOPPED);
            assertThat(broker.status().lastError()).contains("closed the connection");
            client.publish("a/b", "waits", 1);
            awaitQueued(broker, 1);

            broker.module().operate("cloud", Operation.START);
            assertThat(RemoteStub.nextPublish(remote.accept(PropertyBytes.none()))
                            .text())
                    .isEqualTo("waits");
        }
    }
}
