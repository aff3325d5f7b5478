// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** Collects the changes of this node's routes, which may come on any thread, and announces those of some milliseconds together. */
@OnClusterLoop
final class RouteAnnouncer {

    private final OwnRoutes own;
    private final ClusterSettings settings;
    private final LoopTasks tasks;
    private final Consumer<Frame.Delta> announce;
    private final Queue<Change> changes = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean flushDue = new AtomicBoolean();

    private record Change(String filter, int difference, boolean durable) {}

    /**
     * Creates an announcer.
     *
     * @param own the routes of this node
     * @param settings the interval and the size of frames
     * @param tasks runs tasks on the loop
     * @param announce sends changes to all members
     */
    RouteAnnouncer(OwnRoutes own, ClusterSettings settings, LoopTasks tasks, Consumer<Frame.Delta> announce) {
        this.own = own;
        this.settings = settings;
        this.tasks = tasks;
        this.announce = announce;
    }

    /**
     * A subscription was added or removed.
     *
     * @param filter as the client writes it
     * @param difference 1 or -1
     * @param durable whether the subscriber outlives its connection
     */
    @AnyThread
    void change(String filter, int difference, boolean durable) {
        changes.add(new Change(filter, difference, durable));
        if (flushDue.compareAndSet(false, true)) {
            tasks.schedule(this::flush, settings.flushInterval().toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    /** Announces all changes up to now. */
    void flush() {
        flushDue.set(false);
        for (Change next = changes.poll(); next != null; next = changes.poll()) {
            own.change(next.filter, next.difference, next.durable);
        }
        long first = own.sequence() + 1;
        List<RouteRow> changed = own.flush();
        for (int from = 0; from < changed.size(); from += settings.rowsPerFrame()) {
            List<RouteRow> part = changed.subList(from, Math.min(changed.size(), from + settings.rowsPerFrame()));
            announce.accept(new Frame.Delta(first + from, part));
        }
    }
}
