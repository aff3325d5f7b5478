// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test;

import io.smqtt.session.DeadlineWheel;
import io.smqtt.spi.Ticker;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * A clock that stands still until a test moves it, so that keep alive, expiries and will delays need no waiting. Belongs
 * to one running broker. Thread-safe.
 *
 * <p>The broker looks at its deadlines once per {@link DeadlineWheel#TICK_MILLIS} of real time, on each of its event loops;
 * {@link #advance} returns when all of them have seen the new time and have done what was due.
 */
public final class ManualTicker implements Ticker {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int LAPS = 2; // the second lap begins when the first is done

    private final Map<Thread, Integer> laps = new HashMap<>();
    private long nanos;
    private int wheels;

    /** Creates a clock. */
    public ManualTicker() {}

    @Override
    public synchronized long nanoTime() {
        String caller = StackWalker.getInstance()
                .walk(frames -> frames.skip(1)
                        .limit(3)
                        .filter(frame -> frame.getClassName().equals(DeadlineWheel.class.getName()))
                        .map(StackWalker.StackFrame::getMethodName)
                        .filter(method -> method.equals("<init>") || method.equals("advance"))
                        .findFirst()
                        .orElse(""));
        if (caller.equals("<init>")) {
            wheels++;
        } else if (!caller.isEmpty()) {
            laps.merge(Thread.currentThread(), 1, Integer::sum);
            notifyAll();
        }
        return nanos;
    }

    /**
     * Moves the clock and waits until the broker has noticed.
     *
     * @param time how far
     * @throws AssertionError if the broker does not notice within ten seconds
     */
    public synchronized void advance(Duration time) {
        nanos += time.toNanos();
        laps.clear();
        long end = System.nanoTime() + PATIENCE.toNanos();
        try {
            while (!isNoticed()) {
                if (System.nanoTime() > end) {
                    throw new AssertionError("the broker does not look at its clock");
                }
                wait(DeadlineWheel.TICK_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    private boolean isNoticed() {
        return laps.values().stream().filter(count -> count >= LAPS).count() >= wheels;
    }
}
