// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A node is away for long, and returns before or after it was forgotten. With {@code -Dsmqtt.away.seconds=1200} it is away for the 20
 * minutes that the short form scales down: {@code cluster.forget-after} is 72 times as long, as 24 hours are for 20 minutes.
 */
@Tag("long")
class ClusterAwayIT {

    private static final Duration PATIENCE = LoopbackCluster.PATIENCE;
    private static final int AWAY_SECONDS = Integer.getInteger("smqtt.away.seconds", 10);
    private static final int FORGET_AFTER_SECONDS = 72 * AWAY_SECONDS;
    private static final String TOPIC = "away";
    private static final String DROPPED = "smqtt_messages_dropped_total{reason=\"peer_gone\"";

    @TempDir
    Path directory;

    private static void say(String format, Object... values) {
        System.out.println("[away] " + String.format(Locale.ROOT, format, values));
    }

    private static void open(LoopbackCluster cluster, int node, String clientId) {
        try (RawClient subscriber = connect(cluster, node, clientId)) {
            subscriber.subscribe(TOPIC, 2);
            subscriber.disconnect();
        }
    }

    /** A client whose session lasts longer than its node is away. */
    private static RawClient connect(LoopbackCluster cluster, int node, String clientId) {
        RawClient client = cluster.open(node);
        client.connect(ConnectBytes.of(clientId).persistent(FORGET_AFTER_SECONDS));
        return client;
    }

    @Test
    void allThatWasParkedArrivesWhenANodeReturns() {
        String forgetAfter = "cluster.forget-after=" + FORGET_AFTER_SECONDS + "s";
        try (LoopbackCluster cluster = LoopbackCluster.start(directory, 3, "rocksdb", forgetAfter)) {
            open(cluster, 2, "one");
            open(cluster, 2, "two");
            await().atMost(PATIENCE)
                    .until(() -> cluster.view(0).peer("n2").routes() > 0
                            && cluster.view(1).peer("n2").routes() > 0);
            cluster.broker(2).kill9();
            long began = System.nanoTime();
            ClusterPromisesIT.awaitGone(cluster, 0, "n2");
            ClusterPromisesIT.awaitGone(cluster, 1, "n2");
            int published = 0;
            try (RawClient first = cluster.client(0, "first");
                    RawClient second = cluster.client(1, "second")) {
                while (System.nanoTime() - began < TimeUnit.SECONDS.toNanos(AWAY_SECONDS)) {
                    published += publishOneSecond(published % 2 == 0 ? first : second, published);
                }
                first.publish(expiring(1));
                first.publish(expiring(3_600).payload(String.valueOf(published++)));
                awaitSecond();
            }
            int parked = cluster.view(0).peer("n2").parked()
                    + cluster.view(1).peer("n2").parked();
            cluster.restart(2);
            for (String clientId : new String[] {"one", "two"}) {
                try (RawClient subscriber = connect(cluster, 2, clientId)) {
                    List<Integer> numbers = Numbers.take(subscriber, published);
                    say(
                            "away for %d s with forget-after %d s: %d acknowledged, %d parked, %s got %d, %d again",
                            AWAY_SECONDS,
                            FORGET_AFTER_SECONDS,
                            published,
                            parked,
                            clientId,
                            numbers.size(),
                            numbers.size() - published);
                    assertThat(numbers)
                            .containsExactlyInAnyOrderElementsOf(
                                    IntStream.range(0, published).boxed().toList());
                }
            }
            await().atMost(PATIENCE)
                    .until(() -> cluster.view(0).peer("n2").parked() == 0
                            && cluster.view(1).peer("n2").parked() == 0);
            assertThat(cluster.metrics(0, DROPPED) + cluster.metrics(1, DROPPED))
                    .isZero();
        }
    }

    private static PublishBytes expiring(long seconds) {
        PublishBytes message = PublishBytes.to(TOPIC).payload("-1").qos(1);
        message.properties().messageExpiry(seconds);
        return message;
    }

    private static void awaitSecond() {
        long began = System.nanoTime();
        await().atMost(PATIENCE).until(() -> System.nanoTime() - began > TimeUnit.SECONDS.toNanos(2));
    }

    /** Publishes some numbers at QoS 1 and 2, and returns how many when a second is over. */
    private static int publishOneSecond(RawClient publisher, int from) {
        long began = System.nanoTime();
        assertThat(Numbers.publish(publisher, TOPIC, from, from + 40, "")).isEqualTo(40);
        for (int i = 40; i < 51; i++) {
            publisher.publish(TOPIC, String.valueOf(from + i), 2);
        }
        await().atMost(PATIENCE).until(() -> System.nanoTime() - began > TimeUnit.SECONDS.toNanos(1));
        return 51;
    }

    @Test
    void whatIsDroppedForANodeThatStaysAwayIsToldWithItsNumber() {
        try (LoopbackCluster cluster = LoopbackCluster.start(directory, 2, "rocksdb", "cluster.forget-after=15s")) {
            open(cluster, 1, "absent");
            await().atMost(PATIENCE).until(() -> cluster.view(0).peer("n1").routes() > 0);
            try (RawClient operator = cluster.client(0, "operator");
                    RawClient publisher = cluster.client(0, "publisher")) {
                operator.subscribe("$SYS/broker/alarms/parked", 0);
                cluster.broker(1).kill9();
                ClusterPromisesIT.awaitGone(cluster, 0, "n1");
                assertThat(Numbers.publish(publisher, TOPIC, 0, 285, "")).isEqualTo(285);
                String alarm = operator.expect(MqttMessageType.PUBLISH).text();
                assertThat(alarm).isEqualTo("{\"node\":\"n1\",\"reason\":\"forgotten\",\"messages\":285,\"parked\":0}");
                assertThat(cluster.broker(0).awaitLine("dropped 285 messages that were parked for node n1"))
                        .contains("WARN");
                assertThat(cluster.metrics(0, DROPPED)).isEqualTo(285);
                say("forgotten after 15 s: %s", alarm);
                assertThat(cluster.view(0).peers()).isEmpty();
                assertThat(Numbers.publish(publisher, TOPIC, 285, 300, "")).isEqualTo(15); // for nobody

                cluster.restart(1);
                assertThat(Numbers.publish(publisher, TOPIC, 300, 320, "")).isEqualTo(20);
            }
            try (RawClient subscriber = connect(cluster, 1, "absent")) {
                List<Integer> numbers = Numbers.take(subscriber, 20);
                assertThat(numbers)
                        .containsExactlyElementsOf(
                                IntStream.range(300, 320).boxed().toList());
                say("when it returned its session was there, with the %d messages after that", numbers.size());
            }
        }
    }
}
