// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.channel.Channel;
import io.smqtt.connection.TokenBucket;
import io.smqtt.overload.Overload;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Holds a listener to its rate of new connections: over it nothing is accepted for a while. While the broker is overloaded a listener
 * pauses after each connection. No connection is refused; those that come wait in the queue of the operating system.
 */
@AnyThread
final class AcceptPace {

    private static final long SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final @Nullable TokenBucket rate;
    private final Overload overload;
    private final Ticker ticker;
    private final AtomicBoolean paused = new AtomicBoolean();
    private final AtomicLong pauses = new AtomicLong();

    AcceptPace(int perSecond, int burst, Overload overload, Ticker ticker) {
        this.rate = TokenBucket.of(perSecond, burst, ticker.nanoTime());
        this.overload = overload;
        this.ticker = ticker;
    }

    /** Counts an accepted connection of a server channel, and pauses the channel if it is one too many. */
    void accepted(Channel server) {
        long owed = rate == null ? 0 : rate.spend(1, ticker.nanoTime());
        if (overload.pacesAccepts()) {
            owed = Math.max(owed, SLICE_NANOS);
        }
        if (owed > 0) {
            pause(server, owed);
        }
    }

    private void pause(Channel server, long nanos) {
        if (paused.compareAndSet(false, true)) {
            pauses.incrementAndGet();
            server.config().setAutoRead(false);
            server.eventLoop().schedule(() -> resume(server), nanos, TimeUnit.NANOSECONDS);
        }
    }

    private void resume(Channel server) {
        long owed =
                rate == null ? 0 : rate.owedNanos(ticker.nanoTime()); // some were accepted before the pause took effect
        if (owed > 0) {
            server.eventLoop().schedule(() -> resume(server), owed, TimeUnit.NANOSECONDS);
            return;
        }
        paused.set(false);
        server.config().setAutoRead(true);
    }

    /** The number of pauses. */
    long pauses() {
        return pauses.get();
    }
}
