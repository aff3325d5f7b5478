// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Writes one line for each packet that passes a {@link BridgeTap}: milliseconds, the number of the connection, the direction, the first bytes in
 * hexadecimal, and how a connection ends. Does nothing without a file. Safe for use by several threads.
 */
final class PacketTrace implements AutoCloseable {

    private static final int SHOWN_BYTES = 24;

    private final @Nullable BufferedWriter out;
    private final long beginNanos = System.nanoTime();
    private final AtomicInteger connections = new AtomicInteger();
    private boolean closed;

    /** Takes the packets of one direction. */
    interface Listener {
        void packet(int header, ByteBuffer body);
    }

    private PacketTrace(@Nullable BufferedWriter out) {
        this.out = out;
    }

    /**
     * A trace into a file; one that does nothing if the system property is not set.
     *
     * @param property has the begin of the file's name
     * @param name the rest, behind a hyphen
     */
    static PacketTrace ofProperty(String property, String name) {
        String file = System.getProperty(property, "");
        try {
            return new PacketTrace(file.isEmpty() ? null : Files.newBufferedWriter(Path.of(file + '-' + name)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The number of a new connection. */
    int begin() {
        int number = connections.incrementAndGet();
        line(number, '=', "begins");
        return number;
    }

    /** A direction of a connection has ended. */
    void end(int connection, char direction) {
        line(connection, direction, "ends");
    }

    /** A listener that writes the packets before it hands them on. */
    Listener of(int connection, char direction, Listener listener) {
        return out == null
                ? listener
                : (header, body) -> {
                    StringBuilder text = new StringBuilder(String.format("%02x", header));
                    for (int i = body.position(); i < body.limit() && i < body.position() + SHOWN_BYTES; i++) {
                        text.append(String.format(" %02x", body.get(i) & 0xff));
                    }
                    line(connection, direction, text.toString());
                    listener.packet(header, body);
                };
    }

    private synchronized void line(int connection, char direction, String text) {
        if (out != null && !closed) {
            try {
                long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNanos);
                out.write(String.format("%d %d %c %s%n", millis, connection, direction, text));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Override
    public synchronized void close() throws IOException {
        closed = true;
        if (out != null) {
            out.close();
        }
    }
}
