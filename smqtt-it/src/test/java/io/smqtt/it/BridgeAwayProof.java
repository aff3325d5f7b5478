// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The other broker of a bridge is away for long while messages of QoS 1 and 128 bytes are published, at an even rate. Memory and disk of the broker with the bridge are
 * sampled. When the other broker returns it gets each message once, each publisher's in order, and the time from its start to the last message is
 * measured. {@code -Dsmqtt.bridge.away.seconds=600}, {@code -Dsmqtt.bridge.away.messages=2000000}, {@code -Dsmqtt.bridge.away.heap=512} MiB.
 */
class BridgeAwayProof {

    private static final int SECONDS = Integer.getInteger("smqtt.bridge.away.seconds", 600);
    private static final int MESSAGES = Integer.getInteger("smqtt.bridge.away.messages", 2_000_000);
    private static final int HEAP = Integer.getInteger("smqtt.bridge.away.heap", 512);
    private static final int PUBLISHERS = 4;
    private static final int EACH = MESSAGES / PUBLISHERS;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int SAMPLES = 10;

    @TempDir
    Path directory;

    @Test
    void whatWaitsForTheOtherBrokerIsSentInOrder() throws Exception {
        List<Integer> ports = LoopbackPorts.some(2);
        try (BridgeEnd there = BridgeEnd.smqtt(directory.resolve("there"), ports.get(1), "");
                BrokerProcess here = here(ports)) {
            ManyArrivals subscriber = new ManyArrivals("away/#", there.clients());
            there.start();
            subscriber.start();
            await().atMost(PATIENCE).until(subscriber::isSubscribed);
            here.awaitLine("bridge next connected");
            there.kill();

            Whereabouts from = new Whereabouts();
            from.set(here.address("tcp"));
            List<JournalPublisher> publishers = IntStream.range(0, PUBLISHERS)
                    .mapToObj(i -> new Limited("away/" + i, from))
                    .map(JournalPublisher.class::cast)
                    .toList();
            publishers.forEach(Thread::start);
            for (int sample = 1; sample <= SAMPLES; sample++) {
                int least = (int) ((long) MESSAGES * sample / SAMPLES);
                await().pollInterval(Duration.ofSeconds(1))
                        .atMost(PATIENCE.plusSeconds(10L * SECONDS))
                        .until(() -> publishers.stream()
                                        .mapToInt(JournalPublisher::acknowledged)
                                        .sum()
                                >= least);
                print(least + " acknowledged", here);
            }
            publishers.forEach(publisher -> ClientFailures.assertNone(publisher, publisher.failure()));

            long begin = System.nanoTime();
            there.start();
            long started = System.nanoTime();
            while (subscriber.count() < MESSAGES) {
                long before = subscriber.count();
                await().pollInterval(Duration.ofMillis(100))
                        .atMost(PATIENCE)
                        .until(() -> subscriber.count() >= Math.min(MESSAGES, before + MESSAGES / SAMPLES)
                                || subscriber.failure() != null);
                ClientFailures.assertNone(subscriber, subscriber.failure());
            }
            long end = System.nanoTime();
            System.out.printf(
                    "%d messages came within %.1f s of the start of the other process (%.0f/s), %.1f s of its listener (%.0f/s); repeated %d%n",
                    MESSAGES,
                    (end - begin) / 1e9,
                    MESSAGES / ((end - begin) / 1e9),
                    (end - started) / 1e9,
                    MESSAGES / ((end - started) / 1e9),
                    subscriber.repeated());
            print("all sent", here);
            assertThat(subscriber.next().values()).hasSize(PUBLISHERS).allMatch(next -> next == EACH);
        }
    }

    private BrokerProcess here(List<Integer> ports) throws IOException {
        Path folder = directory.resolve("here");
        Path configuration = BridgeEnd.configuration(folder, ports.get(0), """
                bridges:
                  next:
                    addresses: [127.0.0.1:%d]
                    max-delay: 1s
                    max-queued-messages: 10000000
                    max-queued-bytes: 1GiB
                    topics: ["away/# out 1"]
                """.formatted(ports.get(1)));
        List<String> heap = List.of("env", "JAVA_TOOL_OPTIONS=-Xmx" + HEAP + "m");
        return BrokerProcess.start(folder, heap, configuration);
    }

    private void print(String when, BrokerProcess here) throws IOException {
        System.out.printf(
                "%s: %d MiB resident, data directory %d MiB%n",
                when, SlowDiskProof.residentMib(here), size(directory.resolve("here/data")) >> 20);
    }

    private static long size(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.mapToLong(BridgeAwayProof::length).sum();
        }
    }

    private static long length(Path file) {
        try {
            return Files.isRegularFile(file) ? Files.size(file) : 0;
        } catch (NoSuchFileException e) { // the store has removed it
            return 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Publishes its share at an even rate. */
    private static final class Limited extends JournalPublisher {

        Limited(String topic, Whereabouts broker) {
            super(topic, 1, broker, Duration.ofNanos(SECONDS * 1_000_000_000L / EACH));
        }

        @Override
        String payloadOf(int number) {
            return "%0128d".formatted(number);
        }

        @Override
        void sent(int number) {
            if (number == EACH - 1) {
                lastOne();
            }
        }
    }
}
