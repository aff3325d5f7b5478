// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.trace;

import io.smqtt.admin.Json;
import io.smqtt.admin.object.LiveObject;
import io.smqtt.thread.AnyThread;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The lines of a trace of all nodes as server-sent events, while they are written. The files are read twice a second while there is a reader.
 * A reader that is slower than the trace misses lines, and gets the number of their bytes.
 */
@AnyThread
final class TraceStream {

    /** Maximum number of readers of all traces. */
    static final int MAX_READERS = 16;

    private static final Duration INTERVAL = Duration.ofMillis(500);
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final int PART_BYTES = 128 << 10;
    private static final long MAX_BEHIND = 2L * PART_BYTES;
    private static final int QUIET_ROUNDS = 20;
    private static final byte[] QUIET = ": \n\n".getBytes(StandardCharsets.US_ASCII);

    private final NodeTraces traces;
    private final TraceLogs logs;
    private final AtomicInteger readers = new AtomicInteger();

    TraceStream(NodeTraces traces, TraceLogs logs) {
        this.traces = traces;
        this.logs = logs;
    }

    /** Tells whether there is room for another reader. */
    boolean hasRoom() {
        return readers.get() < MAX_READERS;
    }

    /** The lines of a trace, from about the last 256 KiB of each node on, until the trace has ended. */
    Flux<byte[]> of(String name) {
        return Flux.defer(() -> {
            readers.incrementAndGet();
            Reader reader = new Reader(name);
            return Flux.interval(Duration.ZERO, INTERVAL, Schedulers.boundedElastic())
                    .onBackpressureDrop()
                    .concatMap(tick -> reader.round(), 1)
                    .takeUntil(part -> reader.ended)
                    .doFinally(signal -> readers.decrementAndGet());
        });
    }

    /** Where a reader is in the files of the nodes. Its rounds follow each other. */
    private final class Reader {

        private final String name;
        private final Map<String, Long> positions = new ConcurrentHashMap<>(); // nodes answer on several threads
        private int quietRounds;
        private volatile boolean ended;

        Reader(String name) {
            this.name = name;
        }

        /** What is new on all nodes, as one part of the stream; empty if there is nothing to send. */
        Mono<byte[]> round() {
            LiveObject<TraceSpec> object = traces.specs().get(name);
            boolean over =
                    object == null || object.value().status(traces.clock().instant()) == TraceSpec.Status.STOPPED;
            return Flux.fromIterable(logs.nodes())
                    .flatMapSequential(this::read)
                    .collectList()
                    .mapNotNull(events -> joined(events, over));
        }

        private Mono<byte[]> read(String node) {
            long from = positions.getOrDefault(node, 0L);
            return logs.part(node, name, from, PART_BYTES, PATIENCE)
                    .flatMap(part -> part.size() - from <= MAX_BEHIND
                            ? Mono.just(event(node, from, from, part))
                            : skip(node, from, part.size() - PART_BYTES));
        }

        private Mono<byte[]> skip(String node, long from, long to) {
            return logs.part(node, name, to, PART_BYTES, PATIENCE).map(part -> event(node, from, to, part));
        }

        /** One event for the lines of a part; an empty array if there are none. */
        private byte[] event(String node, long from, long to, TraceFiles.Part part) {
            positions.put(node, part.next());
            int begin = from == to ? 0 : part.text().indexOf('\n') + 1; // the line may have begun before
            List<String> lines = part.text().substring(begin).lines().toList();
            if (lines.isEmpty()) {
                return new byte[0];
            }
            long skipped = to - from + (begin == 0 ? 0 : bytes(part.text().substring(0, begin)));
            return sent("trace", Map.of("node", node, "lines", lines, "skipped_bytes", skipped));
        }

        private byte @Nullable [] joined(List<byte[]> events, boolean over) {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            events.forEach(all::writeBytes);
            if (all.size() == 0 && over) {
                ended = true;
                return sent("end", Map.of());
            }
            quietRounds = all.size() == 0 ? quietRounds + 1 : 0;
            if (all.size() == 0 && quietRounds % QUIET_ROUNDS == 1) {
                return QUIET;
            }
            return all.size() == 0 ? null : all.toByteArray();
        }
    }

    private static long bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    private static byte[] sent(String name, Map<String, Object> fields) {
        ByteArrayOutputStream event = new ByteArrayOutputStream();
        event.writeBytes(("event: " + name + "\ndata: ").getBytes(StandardCharsets.US_ASCII));
        event.writeBytes(Json.bytesOf(fields));
        event.writeBytes(new byte[] {'\n', '\n'});
        return event.toByteArray();
    }
}
