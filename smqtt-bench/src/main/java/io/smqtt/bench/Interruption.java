// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/**
 * Whether a run must end early, because of SIGINT (Ctrl-C) or SIGTERM. After the first signal every run of this process reports its
 * results; a later one ends the process at once. A shutdown hook could not distinguish them: hence a class that is not part of the Java
 * standard, but of every JDK. Safe for any thread.
 */
final class Interruption {

    /** The exit code of an interrupted run, as in shells for SIGINT. */
    static final int EXIT_CODE = 130;

    /** Supervisors signal a process and then its group: a second signal within this time is the same request. */
    private static final long SAME_WISH_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private static final List<String> SIGNALS = List.of("INT", "TERM");
    private static final List<Interruption> WATCHING = new ArrayList<>();
    private static final Map<Signal, SignalHandler> BEFORE = new LinkedHashMap<>();

    private volatile boolean asked;
    private long askedNanos;

    boolean isAsked() {
        return asked;
    }

    /** Ends the run early. */
    void ask() {
        asked = true;
    }

    /** Handles signals until {@link #release()}. */
    void watch() {
        synchronized (WATCHING) {
            if (WATCHING.isEmpty()) {
                SIGNALS.forEach(Interruption::take);
            }
            WATCHING.add(this);
        }
    }

    /** Restores the previous signal handlers. */
    void release() {
        synchronized (WATCHING) {
            if (WATCHING.remove(this) && WATCHING.isEmpty()) {
                BEFORE.forEach(Signal::handle);
                BEFORE.clear();
            }
        }
    }

    private static void take(String name) {
        try {
            Signal signal = new Signal(name);
            BEFORE.put(signal, Signal.handle(signal, taken -> signalled()));
        } catch (IllegalArgumentException e) {
            // The JVM was started without handling this signal: it ends the process.
            BEFORE.keySet().removeIf(signal -> signal.getName().equals(name));
        }
    }

    private static void signalled() {
        synchronized (WATCHING) {
            long now = System.nanoTime();
            for (Interruption run : WATCHING) {
                if (!run.asked) {
                    run.askedNanos = now;
                    run.ask();
                } else if (now - run.askedNanos > SAME_WISH_NANOS) {
                    Runtime.getRuntime().halt(EXIT_CODE);
                }
            }
        }
    }
}
