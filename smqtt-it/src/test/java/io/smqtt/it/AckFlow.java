// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** An established client that publishes one QoS 1 message after the other, and the times until they are acknowledged. On a thread of its own. */
final class AckFlow implements AutoCloseable {

    private static final byte[] PUBLISH = {0x32, 6, 0, 1, 'a', 0, 1, 'x'};
    private static final long PACE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final AtomicLong acknowledged = new AtomicLong();
    private final AtomicLong slowestNanos = new AtomicLong();
    private final AtomicIntegerArray tenthMillis = new AtomicIntegerArray(100_000);
    private final Socket socket;
    private final Thread thread;
    private volatile boolean stopped;
    private volatile @Nullable Exception failure;

    /** Connects with a name that is user name and password too, and begins to publish. */
    AckFlow(String name, int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(30_000);
        socket.getOutputStream().write(StormClients.connectPacket(name));
        assertThat(socket.getInputStream().readNBytes(4)).isEqualTo(new byte[] {0x20, 2, 0, 0});
        thread = new Thread(this::run, name);
        thread.start();
    }

    private void run() {
        try {
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            while (!stopped) {
                long start = System.nanoTime();
                out.write(PUBLISH);
                if (in.readNBytes(4).length < 4) {
                    throw new IOException("the connection has ended");
                }
                note(System.nanoTime() - start);
                LockSupport.parkNanos(PACE_NANOS);
            }
        } catch (IOException e) {
            if (!stopped) {
                failure = e;
            }
        }
    }

    private void note(long nanos) {
        slowestNanos.accumulateAndGet(nanos, Math::max);
        tenthMillis.incrementAndGet((int) Math.min(tenthMillis.length() - 1, nanos / 100_000));
        acknowledged.incrementAndGet();
    }

    /** Begins to count anew. */
    void forget() {
        for (int i = 0; i < tenthMillis.length(); i++) {
            tenthMillis.set(i, 0);
        }
        slowestNanos.set(0);
        acknowledged.set(0);
    }

    /** The number of acknowledged messages. */
    long acknowledged() {
        return acknowledged.get();
    }

    /** The time in milliseconds within which 99 % were acknowledged. */
    double p99Millis() {
        long left = acknowledged.get() / 100;
        int at = tenthMillis.length() - 1;
        while (at > 0 && left >= tenthMillis.get(at)) {
            left -= tenthMillis.get(at--);
        }
        return (at + 1) / 10.0;
    }

    /** The failure that ended it before its time; null if there is none. */
    @Nullable
    Exception failure() {
        return failure;
    }

    /** Number and times in words. */
    String figures() {
        return String.format(
                Locale.ROOT,
                "%d acknowledged, 99 %% after %.1f ms, the slowest after %d ms",
                acknowledged(),
                p99Millis(),
                TimeUnit.NANOSECONDS.toMillis(slowestNanos.get()));
    }

    @Override
    public void close() throws Exception {
        stopped = true;
        socket.close();
        thread.join(10_000);
    }
}
