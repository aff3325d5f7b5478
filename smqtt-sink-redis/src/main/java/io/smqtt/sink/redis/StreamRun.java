// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import io.lettuce.core.StreamMessage;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceLag;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.rules.sink.SourceRuns;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A member of a consumer group: reads first what this consumer has not acknowledged, then what is new and what other consumers have left
 * behind, publishes it, and acknowledges what the broker has.
 */
final class StreamRun implements SourceRuns.Run {

    private static final Logger LOG = LoggerFactory.getLogger(StreamRun.class);
    private static final Duration PAUSE = Duration.ofMillis(5);
    private static final long LAST_ANSWERS_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final Duration LAG = Duration.ofSeconds(5);
    private static final long SETTLED_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The broker has an entry, or could not keep it. */
    private record Answer(String id, @Nullable Throwable error) {}

    private final String name;
    private final StreamPlace place;
    private final GroupReader reader;
    private final SourceOutput out;
    private final int most;
    private final int atOnce;
    private final ReadSize size;
    private final Queue<Answer> answers = new ConcurrentLinkedQueue<>();
    private volatile boolean ended;

    // on the thread
    private final Map<String, Long> open = new HashMap<>(); // with their bytes
    private final List<String> published = new ArrayList<>();
    private @Nullable Throwable failure;
    private boolean isHistory = true;
    private @Nullable String historyEnd;
    private long beganNanos;
    private long claimedNanos;
    private boolean works;
    private final SourceLag lag;

    StreamRun(SourceContext context, StreamPlace place, GroupReader reader, SourceOutput out) {
        this.name = context.name();
        this.place = place;
        this.reader = reader;
        this.out = out;
        this.lag = new SourceLag(out, LAG, System::nanoTime);
        this.most = context.config().inflight();
        this.atOnce = Math.max(1, most / 2);
        this.size = new ReadSize(atOnce, context.settings().bytes(RedisSourceFactory.MAX_MEMORY));
    }

    @Override
    @AnyThread
    public void end() {
        ended = true;
    }

    @Override
    public void read() {
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
        if (open.size() + atOnce > most || size.isFull() || out.isPaused()) {
            LockSupport.parkNanos(PAUSE.toNanos());
        } else if (isHistory) {
            readHistory();
        } else {
            claim();
            publish(reader.next(size.next()));
        }
        settle();
        acknowledge();
        if (failure != null) {
            throw new SinkException(String.valueOf(failure.getMessage()), true);
        }
        report();
        lag.tell(reader::lag);
    }

    /** Entries that were read and not acknowledged, such as before a crash. */
    private void readHistory() {
        List<StreamMessage<byte[], byte[]>> found = reader.pending(historyEnd, size.next());
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
            List<StreamMessage<byte[], byte[]>> found =
                    reader.claim(Math.max(1, Math.min(size.next(), most - atOnce - open.size())));
            claimedNanos = found.isEmpty() ? now : claimedNanos; // the rest at once
            publish(found);
        }
    }

    private void publish(List<StreamMessage<byte[], byte[]>> entries) {
        size.read(entries);
        for (StreamMessage<byte[], byte[]> entry : entries) {
            String id = entry.getId();
            if (open.containsKey(id)) {
                continue; // its own, claimed since it takes long
            }
            open.put(id, size.taken(entry));
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
            Long bytes = open.remove(answer.id());
            size.settled(bytes == null ? 0 : bytes);
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
