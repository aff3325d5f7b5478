// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where messages go and how quickly routes are known, on nodes with networks of their own. Prints its figures. Needs root. */
class ClusterRoutesProof {

    private static final Duration POLL = Duration.ofMillis(10);
    private static final Duration WINDOW = Duration.ofSeconds(5);
    private static final int PER_PACKET = 1_000;
    private static final int MESSAGES = 10_000;
    private static final int BURST = 500;
    private static final String ROOM = """
            limits:
              max-subscriptions-per-client: 1000000
            """;

    @TempDir
    Path directory;

    private static void say(String format, Object... values) {
        System.out.println("[cluster] " + String.format(Locale.ROOT, format, values));
    }

    @Test
    void aMessageGoesToNodesThatWantItAndNowhereElse() {
        try (ClusterNetwork network = new ClusterNetwork(directory, 3, "")) {
            network.startAll();
            try (RawClient subscriber = network.client(1, "subscriber");
                    RawClient publisher = network.client(0, "publisher")) {
                long[] idle = sentDuring(network, () -> {});
                long[] unwanted = sentDuring(network, () -> publish(publisher, "nobody/wants", sent -> {}));
                assertThat(network.view(0).forwardedMessages()).isZero();
                say("5 s without messages: %d bytes to one node, %d to the other", idle[0], idle[1]);
                say("5 s with %d messages of 1 KB that nobody wants: %d and %d", MESSAGES, unwanted[0], unwanted[1]);

                for (String filter : new String[] {"wanted/#", "wanted/+", "+/here", "#"}) {
                    subscriber.subscribe(filter, 0);
                }
                await().atMost(ClusterNetwork.PATIENCE)
                        .until(() -> network.view(0).peer("n1").routes() == 4);
                Semaphore received = new Semaphore(0);
                CompletableFuture<Void> all = CompletableFuture.runAsync(
                        () -> {
                            for (int i = 0; i <= MESSAGES; i++) {
                                assertThat(subscriber
                                                .expect(MqttMessageType.PUBLISH)
                                                .topic())
                                        .isEqualTo("wanted/here");
                                received.release();
                            }
                        },
                        THREADS);
                // a burst that the subscriber does not read in time may be dropped at QoS 0
                long[] wanted = sentDuring(
                        network,
                        () -> publish(
                                publisher,
                                "wanted/here",
                                burst -> assertThat(acquire(received, burst)).isTrue()));
                assertThat(all).succeedsWithin(ClusterNetwork.PATIENCE);
                subscriber.expectNothing();
                say("5 s with as many that one node wants by 4 filters: %d and %d", wanted[0], wanted[1]);

                assertThat(network.view(0).forwardedMessages()).isEqualTo(MESSAGES + 1);
                assertThat(unwanted[0]).isLessThan(idle[0] + 10_000);
                assertThat(unwanted[1]).isLessThan(idle[1] + 10_000);
                assertThat(wanted[0]).isBetween(MESSAGES * 1_000L, MESSAGES * 1_200L);
                assertThat(wanted[1]).isLessThan(idle[1] + 10_000);
            }
        }
    }

    /** Publishes at QoS 0 in bursts, and one message at QoS 1 at the end. */
    private static void publish(RawClient publisher, String topic, IntConsumer afterBurst) {
        String payload = "x".repeat(1_000);
        for (int sent = 0; sent < MESSAGES; sent += BURST) {
            for (int i = 0; i < BURST; i++) {
                publisher.send(PublishBytes.to(topic).payload(payload));
            }
            afterBurst.accept(BURST);
        }
        publisher.publish(topic, payload, 1);
    }

    private static boolean acquire(Semaphore received, int count) {
        try {
            return received.tryAcquire(count, ClusterNetwork.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** What node 0 sends to the others in the same time, whatever happens in it. */
    private static long[] sentDuring(ClusterNetwork network, Runnable load) {
        long[] before = {network.wireBytes(0, 1), network.wireBytes(0, 2)};
        long end = System.nanoTime() + WINDOW.toNanos();
        load.run();
        await().atMost(ClusterNetwork.PATIENCE).until(() -> System.nanoTime() >= end);
        return new long[] {network.wireBytes(0, 1) - before[0], network.wireBytes(0, 2) - before[1]};
    }

    @Test
    void routesAreKnownInTime() {
        try (ClusterNetwork network = new ClusterNetwork(directory, 3, ROOM)) {
            network.start(0);
            network.start(1);
            try (RawClient subscriber = network.client(0, "subscriber");
                    RawClient publisher = network.client(1, "publisher")) {
                subscribe(subscriber, "cold", 100_000);
                await().atMost(ClusterNetwork.PATIENCE)
                        .until(() -> network.view(1).peer("n0").routes() == 100_000);

                long began = System.nanoTime();
                network.start(2);
                long started = System.nanoTime();
                await().atMost(ClusterNetwork.PATIENCE)
                        .pollInterval(POLL)
                        .until(() -> network.view(2).peer("n0").routes() == 100_000);
                double known = seconds(System.nanoTime() - began);
                say(
                        "a node that joins 100,000 routes is ready %.2f s and knows them %.2f s after its process began",
                        seconds(started - began), known);
                say("%s", network.broker(2).awaitLine("is reachable"));
                say("%s", network.broker(2).awaitLine("reachable nodes: ["));

                began = System.nanoTime();
                subscribe(subscriber, "burst", 10_000);
                double acknowledged = seconds(System.nanoTime() - began);
                await().atMost(ClusterNetwork.PATIENCE)
                        .pollInterval(POLL)
                        .until(() -> network.view(1).peer("n0").routes() == 110_000
                                && network.view(2).peer("n0").routes() == 110_000);
                double burst = seconds(System.nanoTime() - began);
                say(
                        "10,000 subscriptions: acknowledged after %.3f s, known on both others after %.3f s",
                        acknowledged, burst);

                long[] delays = new long[1_000];
                for (int i = 0; i < delays.length; i++) {
                    delays[i] = usableAfter(subscriber, publisher, "one/" + i);
                }
                Arrays.sort(delays);
                say(
                        "a subscription is usable elsewhere after its SUBACK: p50 %.1f ms, p99 %.1f ms, at most %.1f ms",
                        delays[500] / 1e6, delays[990] / 1e6, delays[999] / 1e6);
                assertThat(network.view(1).repairs()).isZero();
                assertThat(burst).isLessThan(5);
                assertThat(delays[990] / 1e6).isLessThan(1_000);
            }
        }
    }

    private static void subscribe(RawClient client, String name, int count) {
        for (int from = 0; from < count; from += PER_PACKET) {
            SubscribeBytes packet = SubscribeBytes.of(client.nextPacketId());
            for (int i = from; i < from + PER_PACKET; i++) {
                packet.filter(name + "/device-" + i + "/+/state", 1);
            }
            client.subscribe(packet);
        }
    }

    private static long usableAfter(RawClient subscriber, RawClient publisher, String topic) {
        subscriber.subscribe(topic, 0);
        long acknowledged = System.nanoTime();
        int answer;
        int id = 1;
        do {
            id = id % 60_000 + 1;
            publisher.send(PublishBytes.to(topic).payload("x").qos(1, id));
            answer = publisher.expect(MqttMessageType.PUBACK).reasonCode();
        } while (answer != 0);
        long delay = System.nanoTime() - acknowledged;
        subscriber.expectPublish(topic, "x");
        return delay;
    }

    private static double seconds(long nanos) {
        return nanos / 1e9;
    }
}
