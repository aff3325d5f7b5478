// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Wakes the publishers of one group on one event loop when their messages are due. Owned by that loop. */
final class Pacer {

    private final LoadLoop loop;
    private final PaceSchedule schedule;
    private final long endNanos;
    private final List<Publisher> publishers = new ArrayList<>();
    private final Runnable tick = this::tick;
    private int cursor;
    private long round;

    Pacer(LoadLoop loop, PaceSchedule schedule, long endNanos) {
        this.loop = loop;
        this.schedule = schedule;
        this.endNanos = endNanos;
    }

    /** In the order of their places in the schedule; before the first tick. */
    void add(Publisher publisher) {
        publishers.add(publisher);
    }

    void tick() {
        if (publishers.isEmpty()) {
            return;
        }
        long now = System.nanoTime();
        Publisher next = publishers.get(cursor);
        long due = schedule.dueNanos(next.place, round);
        while (due - now <= 0 && due - endNanos < 0) {
            loop.touch(next);
            if (++cursor == publishers.size()) {
                cursor = 0;
                round++;
            }
            next = publishers.get(cursor);
            due = schedule.dueNanos(next.place, round);
        }
        loop.work();
        if (due - endNanos < 0) {
            loop.executor.schedule(tick, due - System.nanoTime(), TimeUnit.NANOSECONDS);
        }
    }
}
