// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.Future;
import io.smqtt.thread.OnEventLoop;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Finds out that the other broker does not answer, first the CONNECT and then PINGREQ, and measures the round trip. Of one connection. */
@OnEventLoop
final class Pings {

    /** Milliseconds between two PINGREQ for each second of the keep-alive interval. */
    private static final long MILLIS_OF_SECOND = 750;

    private final BridgeCounts counts;
    private final BooleanSupplier reads;
    private @Nullable Future<?> timer;
    private boolean awaits;
    private long askedNanos;

    /**
     * Creates the state of one connection.
     *
     * @param counts take the round trip
     * @param reads whether our broker wants more bytes of the other one
     */
    Pings(BridgeCounts counts, BooleanSupplier reads) {
        this.counts = counts;
        this.reads = reads;
    }

    /**
     * A CONNECT is sent.
     *
     * @param timeoutMillis the maximum time of the answer
     * @param late runs if there is none
     */
    void connecting(ChannelHandlerContext context, long timeoutMillis, Runnable late) {
        askedNanos = System.nanoTime();
        timer = context.executor().schedule(late, timeoutMillis, TimeUnit.MILLISECONDS);
    }

    /**
     * The connection is complete.
     *
     * @param seconds the keep-alive interval; 0 for none
     * @param silent runs if a PINGREQ is not answered
     */
    void begin(ChannelHandlerContext context, long seconds, Runnable silent) {
        end();
        if (seconds > 0) {
            long millis = seconds * MILLIS_OF_SECOND;
            timer = context.executor()
                    .scheduleAtFixedRate(() -> ping(context, silent), millis, millis, TimeUnit.MILLISECONDS);
        }
    }

    private void ping(ChannelHandlerContext context, Runnable silent) {
        if (awaits && reads.getAsBoolean()) { // while our broker does not read, the answer may be waiting
            silent.run();
            return;
        }
        awaits = true;
        askedNanos = System.nanoTime();
        context.writeAndFlush(Unpooled.wrappedBuffer(Packets.PINGREQ));
    }

    /** Something has come: the other broker lives. */
    void alive() {
        awaits = false;
    }

    /** The answer to CONNECT or PINGREQ has come. */
    void answered() {
        counts.answered(System.nanoTime() - askedNanos);
    }

    /** Nothing is asked any more. */
    void end() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }
}
