// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The clients of one event loop, with their counts and writes. All work of an iteration of the loop (window credits, sending, flushing) is
 * done once at its end. To be used on the loop, except the constructor.
 */
final class LoadLoop {

    private static final long PING_CHECK_SECONDS = 1;

    final EventLoop executor;
    final LoadFigures figures = new LoadFigures();
    final List<LoadClient> clients = new ArrayList<>();

    /** All publishers of the run by number; set before the first message. */
    private volatile Publisher[] publishers = {};

    private final List<Publisher> own = new ArrayList<>();
    private List<LoadClient> dirty = new ArrayList<>();
    private List<Publisher> touched = new ArrayList<>();
    private List<LoadClient> spareDirty = new ArrayList<>();
    private List<Publisher> spareTouched = new ArrayList<>();
    private boolean passQueued;
    private final Runnable endOfPass = this::endOfPass;

    private int[] credits = {};
    private int[] credited = {};
    private int creditedCount;
    private boolean usesCredits;

    private long endNanos;
    private long measureFromNanos = Long.MAX_VALUE;

    LoadLoop(EventLoop executor) {
        this.executor = executor;
        executor.execute(this::checkPings);
    }

    /** Prepares for a run; from any thread, before it. */
    void publishers(Publisher[] all, boolean credit) {
        publishers = all;
        executor.execute(() -> {
            credits = new int[all.length];
            credited = new int[all.length];
            usesCredits = credit;
            own.clear();
            for (Publisher publisher : all) {
                if (publisher.client.loop == this) {
                    own.add(publisher);
                }
            }
        });
    }

    /** Starts the publishers of this loop; {@code paces} are by group, empty for closed loops. */
    void start(LoadSettings settings, List<PaceSchedule> paces, long measureFrom, long end) {
        measureFromNanos = measureFrom;
        endNanos = end;
        List<Pacer> pacers = new ArrayList<>();
        paces.forEach(pace -> pacers.add(new Pacer(this, pace, end)));
        for (Publisher publisher : own) {
            PaceSchedule pace = paces.isEmpty() ? null : paces.get(publisher.group);
            publisher.start(pace, end, settings.limitOf(publisher.number, publishers.length));
            touch(publisher);
            if (pace != null) {
                pacers.get(publisher.group).add(publisher);
            }
        }
        if (pacers.isEmpty() || own.isEmpty()) {
            watchWindows();
        } else {
            pacers.forEach(Pacer::tick);
        }
    }

    /** Stops the publishers of this loop. */
    void stop() {
        own.forEach(Publisher::stop);
    }

    boolean isDone() {
        for (Publisher publisher : own) {
            if (!publisher.isDone()) {
                return false;
            }
        }
        return true;
    }

    boolean isWaiting() {
        for (Publisher publisher : own) {
            if (publisher.isWaiting()) {
                return true;
            }
        }
        return false;
    }

    private void watchWindows() {
        if (System.nanoTime() - endNanos < 0) {
            own.forEach(this::touch);
            executor.schedule(this::watchWindows, PING_CHECK_SECONDS, TimeUnit.SECONDS);
        }
    }

    /** Records a sent message that was due at {@code due}. */
    void published(long due, long now) {
        figures.published++;
        if (due - measureFromNanos >= 0) {
            figures.measuredPublished++;
            figures.lag.recordValue(now - due);
        }
    }

    /** Records a received message of a publisher. */
    void delivered(int publisher, boolean fresh, long sentNanos, long now) {
        figures.delivered++;
        figures.lastDeliveredNanos = now;
        if (now - measureFromNanos >= 0 && now - endNanos < 0) {
            figures.measuredDelivered++;
        }
        figures.recordLatency(now - sentNanos, sentNanos - measureFromNanos >= 0);
        if (usesCredits && fresh) {
            credit(publisher);
        }
    }

    private void credit(int number) {
        if (credits[number]++ == 0) {
            credited[creditedCount++] = number;
            queuePass();
        }
    }

    /** Schedules a publisher that may have messages to send. */
    void touch(Publisher publisher) {
        if (!publisher.touched) {
            publisher.touched = true;
            touched.add(publisher);
            queuePass();
        }
    }

    void markDirty(LoadClient client) {
        dirty.add(client);
        queuePass();
    }

    private void queuePass() {
        if (!passQueued) {
            passQueued = true;
            executor.execute(endOfPass);
        }
    }

    private void endOfPass() {
        passQueued = false;
        work();
    }

    /** Runs the work of the iteration. */
    void work() {
        long now = System.nanoTime();
        settleCredits(now);
        List<Publisher> senders = touched;
        touched = spareTouched;
        for (int i = 0; i < senders.size(); i++) {
            Publisher publisher = senders.get(i);
            publisher.touched = false;
            publisher.pump(now);
        }
        senders.clear();
        spareTouched = senders;
        List<LoadClient> writers = dirty;
        dirty = spareDirty;
        for (int i = 0; i < writers.size(); i++) {
            writers.get(i).flush();
        }
        writers.clear();
        spareDirty = writers;
    }

    /** Own publishers get their credits at once; those of other loops in one task per loop and iteration. */
    private void settleCredits(long now) {
        int foreign = 0;
        for (int i = 0; i < creditedCount; i++) {
            Publisher publisher = publishers[credited[i]];
            if (publisher.client.loop == this) {
                publisher.credit(credits[publisher.number], now);
                credits[publisher.number] = 0;
                touch(publisher);
            } else {
                credited[foreign++] = publisher.number;
            }
        }
        creditedCount = 0;
        if (foreign > 0) {
            sendCredits(Arrays.copyOf(credited, foreign));
        }
    }

    private void sendCredits(int[] numbers) {
        int[] counts = new int[numbers.length];
        List<LoadLoop> owners = new ArrayList<>();
        for (int i = 0; i < numbers.length; i++) {
            counts[i] = credits[numbers[i]];
            credits[numbers[i]] = 0;
            LoadLoop owner = publishers[numbers[i]].client.loop;
            if (!owners.contains(owner)) {
                owners.add(owner);
            }
        }
        owners.forEach(owner -> owner.executor.execute(() -> owner.takeCredits(numbers, counts)));
    }

    private void takeCredits(int[] numbers, int[] counts) {
        long now = System.nanoTime();
        for (int i = 0; i < numbers.length; i++) {
            Publisher publisher = publishers[numbers[i]];
            if (publisher.client.loop == this) {
                publisher.credit(counts[i], now);
                touch(publisher);
            }
        }
    }

    private void checkPings() {
        long now = System.nanoTime();
        for (int i = 0; i < clients.size(); i++) {
            clients.get(i).pingIfIdle(now);
        }
        if (!executor.isShuttingDown()) {
            executor.schedule(this::checkPings, PING_CHECK_SECONDS, TimeUnit.SECONDS);
        }
    }
}
