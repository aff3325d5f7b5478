// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.ConsumerOptions;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;

/** Consumers that get the messages of their own node only. */
class LocalSubscriptionTest {

    private static final BrokerCluster CLUSTER = new BrokerCluster();

    @RegisterExtension
    static final BrokerExtension A = CLUSTER.broker(true);

    @RegisterExtension
    static final BrokerExtension B = CLUSTER.broker(true);

    private static int tests;

    private final String topic = "local/" + ++tests;

    /** A local consumer with what it has got. */
    private static final class Local implements AutoCloseable {

        private final List<String> texts = Collections.synchronizedList(new ArrayList<>());
        private final Disposable running;

        Local(BrokerExtension broker, String filter, ConsumerOptions options) throws InterruptedException {
            CountDownLatch subscribed = new CountDownLatch(1);
            running = broker.broker()
                    .subscribe(filter, options.localOnly().whenSubscribed(subscribed::countDown))
                    .subscribe(message -> texts.add(message.payload().asString()));
            assertThat(subscribed.await(BrokerCluster.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
        }

        void awaits(String... expected) {
            await().atMost(BrokerCluster.PATIENCE)
                    .untilAsserted(() -> assertThat(texts).containsExactly(expected));
        }

        @Override
        public void close() {
            running.dispose();
        }
    }

    private RawClient client(int broker, String id) {
        RawClient client = CLUSTER.get(broker).open(ProtocolVersion.MQTT_5).deadline(BrokerCluster.PATIENCE);
        client.connect(id + topic);
        return client;
    }

    @Test
    void aLocalConsumerIsNoRoute() throws Exception {
        try (Local here = new Local(A, topic, ConsumerOptions.DEFAULTS);
                RawClient near = client(0, "near");
                RawClient far = client(1, "far")) {
            RawClient listener = client(0, "listener");
            listener.subscribe("end/" + topic, 1);
            long before = CLUSTER.forwarded(1);

            far.publish(topic, "of another node", 1);
            near.publish(topic, "of this node", 1);
            far.publish("end/" + topic, "end", 1);
            BrokerCluster.receive(listener, "end"); // after all that came before it from the same client

            here.awaits("of this node");
            await().atMost(BrokerCluster.PATIENCE) // a frame is counted when it has left
                    .untilAsserted(() -> assertThat(CLUSTER.forwarded(1)).isEqualTo(before + 1));
        }
    }

    @Test
    void whatComesForOthersIsNotForALocalConsumer() throws Exception {
        try (Local here = new Local(A, topic, ConsumerOptions.DEFAULTS);
                RawClient member = client(0, "member");
                RawClient near = client(0, "near");
                RawClient far = client(1, "far")) {
            member.subscribe(topic, 1);

            far.publish(topic, "1", 1);
            near.publish(topic, "2", 1);

            List<String> both = new ArrayList<>();
            both.add(BrokerCluster.nextMessage(member).text());
            both.add(BrokerCluster.nextMessage(member).text());
            assertThat(both).containsExactlyInAnyOrder("1", "2");
            here.awaits("2");
        }
    }

    @Test
    void eachNodeHasItsOwnDurableConsumerOfAName() throws Exception {
        ConsumerOptions durable = ConsumerOptions.DEFAULTS.durable("each" + tests);
        try (RawClient onA = client(0, "a");
                RawClient onB = client(1, "b")) {
            try (Local a = new Local(A, topic, durable);
                    Local b = new Local(B, topic, durable)) {
                onA.publish(topic, "1", 1);
                onB.publish(topic, "2", 1);
                a.awaits("1");
                b.awaits("2");
            }
            onA.publish(topic, "3", 1);
            onB.publish(topic, "4", 1);
            try (Local a = new Local(A, topic, durable);
                    Local b = new Local(B, topic, durable)) {
                a.awaits("3");
                b.awaits("4");
            }
            assertThat(A.broker().removeConsumer("each" + tests).block()).isTrue();
            assertThat(A.broker().removeConsumer("each" + tests).block()).isFalse();
        }
    }

    /** As the action of a rule does, which has the same name on all nodes. */
    @Test
    void eachNodeKeepsItsDurableConsumerWhenNodesMeet() throws Exception {
        ConsumerOptions durable = ConsumerOptions.DEFAULTS.durable("met" + tests);
        String both = "both" + tests; // a client with a session on each node, of which one is left when nodes have met
        try (RawClient onA = client(0, "a");
                RawClient onB = client(1, "b")) {
            CLUSTER.cutOff(1);
            new Local(A, topic, durable).close();
            new Local(B, topic, durable).close();
            CLUSTER.persistent(0, both, false).disconnect();
            CLUSTER.persistent(1, both, false).disconnect();
            onA.publish(topic, "1", 1);
            onB.publish(topic, "2", 1);

            CLUSTER.heal(1);
            await().atMost(BrokerCluster.PATIENCE).until(() -> CLUSTER.owners(both) == 1);

            onA.publish(topic, "3", 1);
            onB.publish(topic, "4", 1);
            try (Local a = new Local(A, topic, durable);
                    Local b = new Local(B, topic, durable)) {
                a.awaits("1", "3");
                b.awaits("2", "4");
            }
        }
    }
}
