// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test;

import io.netty.util.concurrent.EventExecutor;
import io.smqtt.BrokerModule;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.session.DeadlineWheel;
import io.smqtt.spi.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Mono;

/**
 * The clock of a {@link TestBroker}, which a test can move: an hour passes at once. Keep alive, session expiry, message
 * expiry, will delays and the expiry of retained messages go by it. Clients have clocks of their own and do not notice. Thread-safe.
 *
 * <pre>{@code
 * import io.smqtt.test.BrokerClock;
 * import io.smqtt.test.TestBroker;
 * import java.time.Duration;
 *
 * clock.advance(Duration.ofHours(1)); // sessions with an expiry of less are gone now
 * }</pre>
 *
 * <p>To the broker an hour has passed in which nobody sent anything: a client with a keep alive of a minute is disconnected. One
 * that is to stay connected has a longer keep alive, or none. What begins at the new time, such as the will delay of a client
 * whose keep alive has just run out, takes another {@link #advance}.
 */
public final class BrokerClock implements Ticker {

    private static final long PATIENCE_SECONDS = 30;
    private static final int LAPS =
            2; // in the first deadlines expire; what they put off for a moment is done in the second
    private static final long LAP_MILLIS = DeadlineWheel.TICK_MILLIS + 1;

    private final boolean running;
    private final AtomicLong advancedNanos = new AtomicLong();
    private volatile List<RoutingLoop> loops = List.of();

    private BrokerClock(boolean running) {
        this.running = running;
    }

    /**
     * A clock that goes like the system's, and can be moved ahead.
     *
     * @return a clock for one broker
     */
    public static BrokerClock running() {
        return new BrokerClock(true);
    }

    /**
     * A clock that stands still unless it is moved: nothing expires however slow the machine is.
     *
     * @return a clock for one broker
     */
    public static BrokerClock standing() {
        return new BrokerClock(false);
    }

    @Override
    public long nanoTime() {
        long advanced = advancedNanos.get();
        return running ? System.nanoTime() + advanced : advanced;
    }

    /**
     * Moves the clock ahead and returns when the broker has done what was due then. Takes about 0.2 seconds, however far it moves.
     * Not to be called on an event loop.
     *
     * @param time how far, not negative
     * @throws AssertionError if the broker does not look at its clock within 30 seconds
     */
    public void advance(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("time does not go back: " + time);
        }
        advancedNanos.addAndGet(time.toNanos());
        List<RoutingLoop> all = loops;
        CountDownLatch noticed = new CountDownLatch(all.size());
        for (RoutingLoop loop : all) {
            lap(loop.executor(), LAPS, noticed);
        }
        try {
            if (!noticed.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("the broker does not look at its clock");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    /** The wheel of the loop turns at least once in a lap: its task is older and due before this one. */
    private static void lap(EventExecutor executor, int laps, CountDownLatch done) {
        if (laps == 0) {
            done.countDown();
        } else {
            executor.schedule(() -> lap(executor, laps - 1, done), LAP_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /**
     * How far the clock was moved.
     *
     * @return the sum of all that {@link #advance} was given
     */
    public Duration advanced() {
        return Duration.ofNanos(advancedNanos.get());
    }

    /** What tells the clock of the broker's event loops. */
    BrokerModule module() {
        return new BrokerModule() {
            @Override
            public Mono<Void> start(Core core) {
                return Mono.fromRunnable(() -> loops = core.router().loops());
            }

            @Override
            public Mono<Void> stop() {
                return Mono.fromRunnable(() -> loops = List.of());
            }
        };
    }
}
