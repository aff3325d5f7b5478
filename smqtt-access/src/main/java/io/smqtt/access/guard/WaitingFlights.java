// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.guard;

import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A bounded number of requests that wait until they can be made. They are made in the order in which they came. While the oldest one has
 * waited for longer than a second the newest is made first: a client is refused when its time is over, and behind a long queue in order of
 * arrival each answer would come a moment too late. Requests whose clients have gone make room for others.
 */
@AnyThread
final class WaitingFlights {

    private static final long LATE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final int capacity;
    private final Ticker ticker;
    private final Consumer<Flight> abandoned;
    private final ConcurrentLinkedDeque<Flight> line = new ConcurrentLinkedDeque<>();
    private final AtomicInteger size = new AtomicInteger();

    /**
     * Creates an empty line.
     *
     * @param capacity how many can wait
     * @param ticker the broker's clock
     * @param abandoned takes the requests that were removed because their clients have gone
     */
    WaitingFlights(int capacity, Ticker ticker, Consumer<Flight> abandoned) {
        this.capacity = capacity;
        this.ticker = ticker;
        this.abandoned = abandoned;
    }

    boolean isEmpty() {
        return line.isEmpty();
    }

    /** Appends a request; false if there is no room. */
    boolean offer(Flight flight) {
        if (size.incrementAndGet() > capacity) {
            removeAbandoned();
            if (size.get() > capacity) {
                size.decrementAndGet();
                return false;
            }
        }
        line.addLast(flight);
        return true;
    }

    /** Takes the next request; null if there is none. */
    @Nullable
    Flight poll() {
        removeAbandoned();
        Flight oldest = line.peekFirst();
        if (oldest == null) {
            return null;
        }
        boolean late = ticker.nanoTime() - oldest.createdNanos() > LATE_NANOS;
        Flight next = late ? line.pollLast() : line.pollFirst();
        if (next != null) {
            size.decrementAndGet();
        }
        return next;
    }

    /** Removes the oldest requests as far as their clients have gone, which is where these are. */
    private void removeAbandoned() {
        for (Flight oldest = line.peekFirst();
                oldest != null && oldest.isAbandoned() && line.removeFirstOccurrence(oldest);
                oldest = line.peekFirst()) {
            size.decrementAndGet();
            abandoned.accept(oldest);
        }
    }
}
