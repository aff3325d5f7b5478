// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A client that has nothing to do with the disk: sends PINGREQ and a QoS 0 message to itself, over and over, and notes how
 * long each takes to come back. On a thread of its own; the rest is safe for use by several threads.
 */
final class Bystander implements AutoCloseable {

    private static final long PACE_NANOS = 2_000_000;
    private static final double NANOS_PER_MILLI = 1_000_000;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Thread thread;
    private final List<Long> pings = new ArrayList<>(); // guarded by this
    private final List<Long> messages = new ArrayList<>(); // guarded by this
    private volatile boolean closing;
    private volatile @Nullable Throwable failure;

    private Bystander(InetSocketAddress broker) {
        thread = new Thread(() -> run(broker), "bystander");
        thread.setDaemon(true);
    }

    static Bystander start(InetSocketAddress broker) {
        Bystander bystander = new Bystander(broker);
        bystander.thread.start();
        return bystander;
    }

    private void run(InetSocketAddress broker) {
        try (RawClient client = RawClient.to(broker, ProtocolVersion.MQTT_5).deadline(PATIENCE)) {
            client.connect("bystander");
            client.subscribe("bystander", 0);
            while (!closing) {
                long beganNanos = System.nanoTime();
                client.ping();
                long betweenNanos = System.nanoTime();
                client.send(PublishBytes.to("bystander").payload("x")).expectPublish("bystander", "x");
                note(betweenNanos - beganNanos, System.nanoTime() - betweenNanos);
                LockSupport.parkNanos(PACE_NANOS);
            }
        } catch (RuntimeException | AssertionError e) {
            failure = e;
        }
    }

    private synchronized void note(long pingNanos, long messageNanos) {
        pings.add(pingNanos);
        messages.add(messageNanos);
    }

    /** Begins to count anew. */
    synchronized void forget() {
        pings.clear();
        messages.clear();
    }

    /** How many round trips of each kind there were. */
    synchronized int rounds() {
        return pings.size();
    }

    /** The 99th percentile of both kinds, the larger one. */
    synchronized double p99Millis() {
        return Math.max(millis(pings, 0.99), millis(messages, 0.99));
    }

    private static double millis(List<Long> nanos, double quantile) {
        if (nanos.isEmpty()) {
            return Double.NaN;
        }
        List<Long> sorted = new ArrayList<>(nanos);
        Collections.sort(sorted);
        return sorted.get((int) Math.min(sorted.size() - 1L, Math.round(quantile * sorted.size()))) / NANOS_PER_MILLI;
    }

    /** Percentiles in words. */
    synchronized String figures() {
        return String.format(
                Locale.ROOT,
                "%d round trips; PINGREQ p50 %.2f p99 %.2f max %.2f ms, QoS 0 p50 %.2f p99 %.2f max %.2f ms",
                rounds(),
                millis(pings, 0.5),
                millis(pings, 0.99),
                millis(pings, 1),
                millis(messages, 0.5),
                millis(messages, 0.99),
                millis(messages, 1));
    }

    /** Ends it; fails if one of its packets was not answered. */
    @Override
    public void close() {
        closing = true;
        try {
            thread.join(PATIENCE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (failure != null) {
            throw new AssertionError("a client that needs no disk was disturbed", failure);
        }
    }
}
