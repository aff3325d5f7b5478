// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every sync takes 200 ms longer, and publishers send as fast as they may: those who need no disk do not notice, and the
 * broker does not gather what it cannot store. {@code -Dsmqtt.seconds=20} makes it longer.
 */
class SlowDiskProof {

    private static final Duration LENGTH = Duration.ofSeconds(Integer.getInteger("smqtt.seconds", 20));
    private static final int PUBLISHERS = 8;
    private static final int PAYLOAD_BYTES = 4_000;
    private static final int DELAY_MICROS = 200_000;
    private static final double P99_AT_MOST_MILLIS = 50;
    private static final long MEMORY_AT_MOST_MIB = 700;
    private static final int WINDOW = 1_000; // the broker allows 1,024
    private static final int PUBACK_BYTES = 4;
    private static final int PACKET_IDS = 65_535;

    @TempDir
    Path directory;

    @Test
    void othersDoNotWaitForASlowDisk() throws IOException {
        List<String> strace = List.of(
                ForeignProgram.path("strace"),
                "-D",
                "-f",
                "--seccomp-bpf",
                "-e",
                "trace=fdatasync,fsync",
                "-e",
                "inject=fdatasync,fsync:delay_enter=" + DELAY_MICROS,
                "-o",
                directory.resolve("calls.txt").toString());
        OfflineSession session = new OfflineSession("away", "slow");
        AtomicLong acknowledged = new AtomicLong();
        AtomicLong sent = new AtomicLong();
        try (BrokerProcess broker = StoredBroker.start(directory, strace)) {
            InetSocketAddress address = broker.address("tcp");
            session.open(address);
            long restMib = residentMib(broker);
            List<Flood> floods = new ArrayList<>();
            for (int i = 0; i < PUBLISHERS; i++) {
                floods.add(new Flood(address, "flood-" + i, sent, acknowledged));
            }
            long peakMib = 0;
            try (Bystander bystander = Bystander.start(address)) {
                await().until(() -> bystander.rounds() > 1_000); // compiled by now
                bystander.forget();
                floods.forEach(Flood::begin);
                long endNanos = System.nanoTime() + LENGTH.toNanos();
                while (System.nanoTime() < endNanos) {
                    int rounds = bystander.rounds();
                    await().until(() -> bystander.rounds() > rounds + 10);
                    peakMib = Math.max(peakMib, residentMib(broker));
                }
                System.out.printf(
                        "%s%nsent %d, acknowledged %d in %d s; resident %d MiB before, %d MiB at most%n",
                        bystander.figures(), sent.get(), acknowledged.get(), LENGTH.toSeconds(), restMib, peakMib);
                assertThat(bystander.p99Millis()).isLessThanOrEqualTo(P99_AT_MOST_MILLIS);
            } finally {
                floods.forEach(Flood::end);
            }
            assertThat(acknowledged.get()).isGreaterThan(WINDOW);
            assertThat(peakMib).isLessThan(MEMORY_AT_MOST_MIB);
            broker.kill9();
        }
        long syncs;
        try (var lines = Files.lines(directory.resolve("calls.txt"))) {
            syncs = lines.filter(line -> line.contains("(DELAYED)")).count();
        }
        System.out.println(syncs + " syncs were delayed");
        assertThat(syncs).isGreaterThan(10);
    }

    /** The resident memory of a broker, in MiB. */
    static long residentMib(BrokerProcess broker) throws IOException {
        Path status = Path.of("/proc", Long.toString(broker.handle().pid()), "status");
        for (String line : Files.readAllLines(status)) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) >> 10;
            }
        }
        throw new IllegalStateException("no VmRSS in " + status);
    }

    /** Sends QoS 1 messages by MQTT 3.1.1, as many at once as the broker lets one client have under way. */
    private static final class Flood {

        private final RawClient client;
        private final AtomicLong sent;
        private final AtomicLong acknowledged;
        private final Semaphore window = new Semaphore(WINDOW);

        Flood(InetSocketAddress broker, String clientId, AtomicLong sent, AtomicLong acknowledged) {
            client = RawClient.to(broker, ProtocolVersion.MQTT_3_1_1);
            client.connect(clientId);
            this.sent = sent;
            this.acknowledged = acknowledged;
        }

        void begin() {
            start(this::write);
            start(this::read);
        }

        private static void start(Runnable task) {
            Thread thread = new Thread(task, "flood");
            thread.setDaemon(true);
            thread.start();
        }

        private void write() {
            String payload = "x".repeat(PAYLOAD_BYTES);
            try {
                for (int id = 1; ; id = id % PACKET_IDS + 1) {
                    window.acquireUninterruptibly();
                    client.send(PublishBytes.to("slow").payload(payload).qos(1, id));
                    sent.incrementAndGet();
                }
            } catch (AssertionError e) {
                // closed
            }
        }

        private void read() {
            byte[] buffer = new byte[4_096];
            try {
                InputStream input = client.socket().getInputStream();
                client.socket().setSoTimeout(0);
                int more = 0;
                for (int count = input.read(buffer); count > 0; count = input.read(buffer)) {
                    more += count;
                    acknowledged.addAndGet(more / PUBACK_BYTES);
                    window.release(more / PUBACK_BYTES);
                    more %= PUBACK_BYTES;
                }
            } catch (IOException e) {
                // closed
            }
        }

        void end() {
            try {
                client.socket().close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
