// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.cluster;

import io.smqtt.spi.Ticker;
import java.time.Duration;
import java.util.PriorityQueue;
import java.util.Random;

/**
 * Virtual time. Everything that happens is an event at a moment; events run one after the other on the caller's thread, and
 * those of one moment in the order in which they were asked for. All chance comes from one seed. Not thread-safe.
 */
public final class Simulation implements Ticker {

    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final long seed;
    private final Random random;
    private long nowNanos;
    private long order;

    /**
     * Creates a simulation at time 0.
     *
     * @param seed where all chance comes from
     */
    public Simulation(long seed) {
        this.seed = seed;
        this.random = new Random(seed * 0x9E3779B97F4A7C15L + 1);
    }

    /**
     * Where all chance comes from.
     *
     * @return the seed
     */
    public long seed() {
        return seed;
    }

    /**
     * All chance.
     *
     * @return the one source of random numbers
     */
    public Random random() {
        return random;
    }

    @Override
    public long nanoTime() {
        return nowNanos;
    }

    /**
     * Has something happen later.
     *
     * @param delayNanos from now on
     * @param action what happens
     */
    public void after(long delayNanos, Runnable action) {
        events.add(new Event(nowNanos + Math.max(0, delayNanos), order++, action));
    }

    /**
     * Lets time pass.
     *
     * @param time how much
     * @throws AssertionError if an event fails, with the seed
     */
    public void run(Duration time) {
        long end = nowNanos + time.toNanos();
        Event next = events.peek();
        while (next != null && next.atNanos <= end) {
            events.remove();
            nowNanos = next.atNanos;
            try {
                next.action.run();
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed + " fails at " + nowNanos / 1_000_000 + " ms", e);
            }
            next = events.peek();
        }
        nowNanos = end;
    }

    private record Event(long atNanos, long order, Runnable action) implements Comparable<Event> {

        @Override
        public int compareTo(Event other) {
            int byTime = Long.compare(atNanos, other.atNanos);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }
}
