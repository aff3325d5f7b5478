// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.monitor;

import io.smqtt.thread.AnyThread;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.scheduler.Schedulers;

/**
 * Server-sent events: one per interval and topic of figures, and one for each change of a list. Each is computed once and shared by all
 * readers; without readers nothing is computed. A reader that does not take its events is cut off.
 */
@AnyThread
final class LiveEvents {

    /** Maximum number of readers. */
    static final int MAX_READERS = 32;

    private static final Logger LOG = LoggerFactory.getLogger(LiveEvents.class);
    private static final byte[] BEGIN = ": smqtt\n\n".getBytes(StandardCharsets.US_ASCII);

    private final Monitor monitor;
    private final long intervalMillis;
    private final Map<String, BiConsumer<Monitor.Pair, FigureSink>> topics;
    private final LiveLists lists;
    private final Set<Reader> readers = new LinkedHashSet<>(); // guarded by this
    private @Nullable Disposable task; // guarded by this

    /** Owned by the task. */
    private @Nullable Reading last;

    /** Owned by the task. */
    private final FigureText text = new FigureText();

    /**
     * Creates it without readers.
     *
     * @param monitor reads the figures
     * @param topics puts the figures of each topic, from two readings
     * @param lists the lists, whose topics have other names
     * @param intervalMillis the time between two events of a topic
     */
    LiveEvents(
            Monitor monitor,
            Map<String, BiConsumer<Monitor.Pair, FigureSink>> topics,
            LiveLists lists,
            long intervalMillis) {
        this.monitor = monitor;
        this.lists = lists;
        this.intervalMillis = intervalMillis;
        this.topics = Map.copyOf(topics);
    }

    /** The names of all topics. */
    Set<String> topics() {
        Set<String> all = new TreeSet<>(topics.keySet());
        all.addAll(lists.topics());
        return all;
    }

    /** Tells whether there is room for another reader. */
    synchronized boolean hasRoom() {
        return readers.size() < MAX_READERS;
    }

    /** The number of readers. */
    synchronized int readers() {
        return readers.size();
    }

    /** Tells whether events are computed. */
    synchronized boolean isTicking() {
        return task != null;
    }

    /**
     * The events of some topics, from the subscription on.
     *
     * @param wanted names of topics
     * @return parts of the stream; an error for a reader that is too slow
     */
    Flux<byte[]> of(Set<String> wanted) {
        return Flux.create(
                sink -> {
                    Reader reader = new Reader(wanted, sink);
                    sink.onDispose(() -> leave(reader));
                    sink.next(BEGIN);
                    enter(reader);
                },
                FluxSink.OverflowStrategy.ERROR);
    }

    /** A reader. Its topics with their last events are owned by the task. */
    private static final class Reader {

        private final Set<String> topics;

        /** It fails when there is an event and the reader wants none. */
        private final FluxSink<byte[]> sink;

        private final Map<String, byte[]> sent = new HashMap<>();

        Reader(Set<String> topics, FluxSink<byte[]> sink) {
            this.topics = topics;
            this.sink = sink;
        }

        /** Sends the events that it does not have yet. */
        void read(Function<String, byte @Nullable []> events) {
            List<byte[]> parts = new ArrayList<>(topics.size());
            for (String name : topics) {
                byte[] event = events.apply(name);
                if (event != null && sent.put(name, event) != event) {
                    parts.add(event);
                }
            }
            if (!parts.isEmpty()) {
                sink.next(parts.size() == 1 ? parts.get(0) : joined(parts));
            }
        }
    }

    private static byte[] joined(List<byte[]> parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        parts.forEach(all::writeBytes);
        return all.toByteArray();
    }

    private synchronized void enter(Reader reader) {
        readers.add(reader);
        if (task == null) {
            task = Schedulers.boundedElastic()
                    .schedulePeriodically(this::tick, 0, intervalMillis, TimeUnit.MILLISECONDS);
        }
    }

    private synchronized void leave(Reader reader) {
        readers.remove(reader);
        if (readers.isEmpty() && task != null) {
            task.dispose();
            task = null;
        }
    }

    private synchronized List<Reader> present() {
        return List.copyOf(readers);
    }

    private void tick() {
        try {
            List<Reader> present = present();
            Set<String> wanted = new LinkedHashSet<>();
            present.forEach(reader -> wanted.addAll(reader.topics));
            Monitor.Pair figures = figures();
            lists.tick(wanted);
            Map<String, byte[]> events = new HashMap<>();
            for (String name : wanted) {
                BiConsumer<Monitor.Pair, FigureSink> topic = topics.get(name);
                if (topic != null) {
                    events.put(name, text.event(name, all -> topic.accept(figures, all)));
                }
            }
            present.forEach(reader -> reader.read(name -> {
                byte[] event = events.get(name);
                return event == null ? lists.event(name) : event;
            }));
        } catch (RuntimeException e) {
            LOG.warn("live figures are missing", e);
        }
    }

    /** The figures since the last event; after a pause, since the last sample of the history. */
    private Monitor.Pair figures() {
        Reading before = last;
        Monitor.Pair current = monitor.current();
        last = current.now();
        return before == null || current.now().secondsSince(before) > 2e-3 * intervalMillis
                ? current
                : new Monitor.Pair(before, current.now());
    }
}
