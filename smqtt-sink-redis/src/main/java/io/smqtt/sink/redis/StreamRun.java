// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import io.lettuce.core.StreamMessage;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread of a member of a consumer group: reads first what this consumer has not acknowledged, then what is new and what other consumers have left
 * behind, publishes it, and acknowledges what the broker has.
 */
final class StreamRun implements Runnable {

    private static final Logger LOG = LoggerFactory.getLogger(StreamRun.class);
    private static final Duration PAUSE = Duration.ofMillis(5);
    private static final long LAST_ANSWERS_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long SETTLED_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The broker has an entry, or could not keep it. */
    private record Answer(String id, @Nullable Throwable error) {}

    private final String name;
    private final StreamPlace place;
    private final GroupReader reader;
    private final SourceOutput out;
    private final Consumer<@Nullable Throwable> outcome;
    private final int most;
    private final int atOnce;
    private final Queue<Answer> answers = new ConcurrentLinkedQueue<>();
    private volatile @Nullable Thread thread;
    private volatile boolean ended;
    private volatile boolean over;

    // on the thread
    private final Set<String> open = new HashSet<>();
    private final List<String> published = new ArrayList<>();
    private @Nullable Throwable failure;
    private boolean isHistory = true;
    private @Nullable String historyEnd;
    private long beganNanos;
    private long claimedNanos;
    private boolean works;

    /**
     * Creates a run.
     *
     * @param most entries that may be in flight
     * @param outcome takes the error of the run, or null
     */
    StreamRun(
            String name,
            StreamPlace place,
            GroupReader reader,
            int most,
            SourceOutput out,
            Consumer<@Nullable Throwable> outcome) {
        this.name = name;
        this.place = place;
        this.reader = reader;
        this.most = most;
        this.atOnce = Math.max(1, most / 2);
        this.out = out;
        this.outcome = outcome;
    }

    // --- any thread

    @AnyThread
    void start() {
        Thread made = new Thread(this, "smqtt-source-" + name);
        made.setDaemon(true);
        thread = made;
        made.start();
    }

    /** Ends the run soon. */
    @AnyThread
    void end() {
        ended = true;
    }

    @AnyThread
    boolean isOver() {
        return over;
    }

    @AnyThread
    void await(int millis) {
        Thread running = thread;
        try {
            if (running != null) {
                running.join(millis);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // --- on the thread

    @Override
    public void run() {
        Throwable error = null;
        try {
            read();
        } catch (RuntimeException | Error e) {
            error = e;
        }
        over = true;
        outcome.accept(error);
    }

    private void read() {
        beganNanos = System.nanoTime();
        claimedNanos = beganNanos;
        reader.createGroup();
        while (!ended) {
            pass();
        }
        awaitAnswers();
        acknowledge();
    }

    private void pass() {
        if (open.size() + atOnce > most || out.isPaused()) {
            LockSupport.parkNanos(PAUSE.toNanos());
        } else if (isHistory) {
            readHistory();
        } else {
            claim();
            publish(reader.next(atOnce));
        }
        settle();
        acknowledge();
        if (failure != null) {
            throw new SinkException(String.valueOf(failure.getMessage()), true);
        }
        report();
    }

    /** Entries that were read and not acknowledged, such as before a crash. */
    private void readHistory() {
        List<StreamMessage<byte[], byte[]>> found = reader.pending(historyEnd, atOnce);
        isHistory = !found.isEmpty();
        if (isHistory) {
            historyEnd = found.get(found.size() - 1).getId();
        } else {
            LOG.info("source {}: reads the stream {} as {}", name, place.stream(), place.consumer());
        }
        publish(found);
    }

    /** Entries of consumers that have not acknowledged them for long. They are looked for twice in that time. */
    private void claim() {
        long now = System.nanoTime();
        if (now - claimedNanos >= place.claimAfter().toNanos() / 2) {
            List<StreamMessage<byte[], byte[]>> found = reader.claim(Math.max(1, most - atOnce - open.size()));
            claimedNanos = found.isEmpty() ? now : claimedNanos; // the rest at once
            publish(found);
        }
    }

    private void publish(List<StreamMessage<byte[], byte[]>> entries) {
        for (StreamMessage<byte[], byte[]> entry : entries) {
            String id = entry.getId();
            if (!open.add(id)) {
                continue; // its own, claimed since it takes long
            }
            if (entry.getBody() == null || entry.getBody().isEmpty()) {
                answers.add(new Answer(id, null)); // it was removed from the stream
                continue;
            }
            out.publish(EntryColumns.of(place.stream(), entry))
                    .subscribe(taken -> answers.add(new Answer(id, null)), error -> answers.add(new Answer(id, error)));
        }
    }

    private void settle() {
        for (Answer answer = answers.poll(); answer != null; answer = answers.poll()) {
            open.remove(answer.id());
            if (answer.error() == null) {
                published.add(answer.id());
            } else if (failure == null) {
                failure = answer.error();
            }
        }
    }

    private void acknowledge() {
        if (!published.isEmpty()) {
            reader.acknowledge(published);
            published.clear();
        }
    }

    private void report() {
        if (!works && System.nanoTime() - beganNanos > SETTLED_NANOS) {
            works = true;
            out.working();
        }
    }

    private void awaitAnswers() {
        long until = System.nanoTime() + LAST_ANSWERS_NANOS;
        while (!open.isEmpty() && System.nanoTime() - until < 0) {
            settle();
            LockSupport.parkNanos(PAUSE.toNanos());
        }
        settle();
    }
}
