// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Publishers beside a sink whose server takes one row in a second: how long acknowledgements take, counted from when a message is due, and how much
 * memory the broker has. In one run with messages that are in no queue, with a rule whose server is quick, and with one whose server is slow.
 */
class SlowSinkProof {

    private static final int SECONDS = Integer.getInteger("smqtt.slow.sink.seconds", 20);
    private static final int RATE = Integer.getInteger("smqtt.slow.sink.rate", 2_000);
    private static final int PUBLISHERS = 10;
    private static final int ROUNDS = 2;
    private static final int GROWTH_AT_MOST_MIB = 128;

    /** Most that the slow server may add to the 99th percentile, as a factor of that with a quick server; a server that publishers wait for adds seconds. */
    private static final int SLOWER_AT_MOST = 5;

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final double NANOS_PER_MILLI = 1_000_000;

    @TempDir
    Path directory;

    private int quickly; // messages to the quick server

    /** Publishes at a pace with QoS 1, each when the one before is acknowledged. */
    private static final class Publisher extends Thread {

        private final InetSocketAddress broker;
        private final String topic;
        private final long endNanos;
        final List<Long> nanos = new ArrayList<>();
        volatile Throwable failure;

        Publisher(InetSocketAddress broker, String topic, Duration length) {
            super("publisher-" + topic);
            this.broker = broker;
            this.topic = topic;
            this.endNanos = System.nanoTime() + length.toNanos();
            setDaemon(true);
        }

        @Override
        public void run() {
            long every = Duration.ofSeconds(1).toNanos() * PUBLISHERS / RATE;
            try (RawClient client = RawClient.to(broker, ProtocolVersion.MQTT_5)) {
                client.connect(getName());
                for (long due = System.nanoTime(); due < endNanos; due += every) {
                    LockSupport.parkNanos(due - System.nanoTime());
                    client.publish(topic, String.valueOf(nanos.size()), 1);
                    nanos.add(System.nanoTime() - due); // a stall counts for the messages that it delays
                }
            } catch (RuntimeException | AssertionError e) {
                failure = e;
            }
        }
    }

    @Test
    void slowServerDoesNotSlowPublishers() throws Exception {
        Path quickFolder = Files.createDirectory(directory.resolve("quick"));
        Path slowFolder = Files.createDirectory(directory.resolve("slow"));
        try (HttpSinkProof.Receiver quick = new HttpSinkProof.Receiver(quickFolder, 0);
                HttpSinkProof.Receiver slow = new HttpSinkProof.Receiver(slowFolder, 1);
                BrokerProcess broker = BrokerProcess.start(
                        Extensions.command("smqtt-sink-redis", directory, configuration(quick.port(), slow.port())))) {
            round(broker); // its memory grows until the JVM has what it uses
            long before = residentMib(broker);
            for (int i = 0; i < ROUNDS; i++) {
                round(broker);
            }
            assertThat(residentMib(broker) - before).isLessThan(GROWTH_AT_MOST_MIB);
            await().atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertThat(Files.readAllLines(quick.file())).hasSizeGreaterThanOrEqualTo(quickly));
            assertThat(Files.readAllLines(slow.file())).isNotEmpty().hasSizeLessThan(2 * (ROUNDS + 1) * 3 * SECONDS);
        }
    }

    private void round(BrokerProcess broker) throws Exception {
        measure(broker, "plain");
        List<Long> quick = measure(broker, "quick");
        quickly += quick.size();
        assertThat(percentile99(measure(broker, "slow"))).isLessThan(SLOWER_AT_MOST * percentile99(quick));
    }

    private static long percentile99(List<Long> sorted) {
        return sorted.get(sorted.size() * 99 / 100);
    }

    /** The sorted times until the acknowledgements, in nanoseconds. */
    private static List<Long> measure(BrokerProcess broker, String filter) throws Exception {
        List<Publisher> publishers = IntStream.range(0, PUBLISHERS)
                .mapToObj(i -> new Publisher(broker.address("tcp"), filter + '/' + i, Duration.ofSeconds(SECONDS)))
                .toList();
        publishers.forEach(Thread::start);
        List<Long> all = new ArrayList<>();
        for (Publisher publisher : publishers) {
            publisher.join();
            assertThat(publisher.failure).isNull();
            all.addAll(publisher.nanos);
        }
        all.sort(null);
        System.out.printf(
                Locale.ROOT,
                "%s: %d messages in %d s, acknowledged in %.2f ms (p50), %.2f ms (p99), %.2f ms (p99.9); resident %d MiB%n",
                filter,
                all.size(),
                SECONDS,
                all.get(all.size() / 2) / NANOS_PER_MILLI,
                percentile99(all) / NANOS_PER_MILLI,
                all.get(all.size() * 999 / 1_000) / NANOS_PER_MILLI,
                residentMib(broker));
        return all;
    }

    private static long residentMib(BrokerProcess broker) throws IOException {
        return SlowDiskProof.residentMib(broker);
    }

    private Path configuration(int quick, int slow) throws IOException {
        String rule = """
                  %1$s:
                    sql: SELECT topic, payload AS n FROM "%1$s/#"
                    actions:
                      hook:
                        type: http
                        url: http://127.0.0.1:%2$d/rows
                        batch: %3$s
                        batch-size: %4$d
                        timeout: 10s
                        max-queued-messages: 1000000
                """;
        return Files.writeString(
                directory.resolve("test.yaml"),
                """
                management:
                  enabled: false
                access:
                  allow-anonymous: loopback
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: 0
                  ws:
                    enabled: false
                storage:
                  kind: rocksdb
                rules:
                """ + rule.formatted("quick", quick, "lines", 500) + rule.formatted("slow", slow, "single", 1));
    }
}
