// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.ListenerConfig;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;

/** A broker with two event loops on the loopback address, and the clients of a test, which both end after it. */
abstract class ServedBroker {

    static final Duration PATIENCE = Duration.ofSeconds(30);

    final List<MqttTestClient> clients = new CopyOnWriteArrayList<>();
    Broker broker;

    /**
     * Starts the broker.
     *
     * @param maxQueued messages that a session may hold
     * @param parts what the test adds
     */
    final void start(int maxQueued, UnaryOperator<BrokerBuilder> parts) {
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of(
                        "tcp",
                        ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build()))
                .limits(LimitsConfig.builder().maxQueuedMessages(maxQueued).build())
                .eventLoops(2)
                .build();
        broker = parts.apply(Broker.builder().config(config)).start().block(PATIENCE);
    }

    @AfterEach
    final void stop() {
        clients.forEach(MqttTestClient::close);
        broker.close(Duration.ofSeconds(5)).block(PATIENCE);
    }

    /** A client whose session outlives its connection. */
    final MqttTestClient connect(String clientId) throws Exception {
        MqttTestClient client = MqttTestClient.connect(broker.listeners().get("tcp"), clientId, false);
        clients.add(client);
        return client;
    }

    /** Closes a connection and waits until the broker knows. */
    final void away(MqttTestClient client, String clientId) {
        client.close();
        await().until(() -> !broker.client(clientId).block(PATIENCE).info().connected());
    }

    static ConditionFactory await() {
        return Awaitility.await().atMost(PATIENCE);
    }
}
