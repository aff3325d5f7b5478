// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.trace;

import io.smqtt.thread.AnyThread;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The files of a trace of some nodes, as one zip or one text. They are read part by part as their reader takes them: whatever their size, some
 * parts of {@link #PART_BYTES} are in memory. A node that does not answer at the beginning is left out; the download fails if one stops to
 * answer, or if its reader takes nothing for {@link #PATIENCE}.
 */
@AnyThread
final class TraceDownload {

    /** Maximum number of downloads at a time. */
    static final int MAX_DOWNLOADS = 4;

    /** The size of a part that is read: the server takes up to 128 of them in advance. */
    static final int PART_BYTES = 16 << 10;

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final TraceLogs logs;
    private final AtomicInteger running = new AtomicInteger();

    TraceDownload(TraceLogs logs) {
        this.logs = logs;
    }

    /** Tells whether there is room for another download. */
    boolean hasRoom() {
        return running.get() < MAX_DOWNLOADS;
    }

    private Flux<byte[]> counted(Flux<byte[]> parts) {
        return Flux.defer(() -> {
            running.incrementAndGet();
            return parts.timeout(PATIENCE).doFinally(end -> running.decrementAndGet());
        });
    }

    /** The parts of a file, up to the size that it has at the beginning. */
    private Flux<String> parts(String node, String name) {
        return logs.part(node, name, 0, PART_BYTES)
                .flatMapMany(first -> Mono.just(first)
                        .expand(part ->
                                part.next() >= first.size() || part.text().isEmpty()
                                        ? Mono.<TraceFiles.Part>empty()
                                        : logs.part(node, name, part.next(), PART_BYTES)
                                                .switchIfEmpty(Mono.error(() ->
                                                        new IllegalStateException("the node " + node + " is away"))))
                        .map(TraceFiles.Part::text));
    }

    /** The files as a zip, with one entry for each node. */
    Flux<byte[]> zip(List<String> nodes, String name) {
        return counted(Flux.defer(() -> {
            Zip zip = new Zip();
            return Flux.fromIterable(nodes)
                    .concatMap(
                            node -> parts(node, name)
                                    .index((index, part) ->
                                            new ZipPart(index == 0 ? node + "-trace_" + name + ".log" : "", part)),
                            1)
                    .publishOn(Schedulers.boundedElastic(), 1)
                    .map(zip::add)
                    .concatWith(Mono.fromCallable(zip::end))
                    .filter(bytes -> bytes.length > 0);
        }));
    }

    /**
     * A part of a file.
     *
     * @param entry the entry of the zip that begins with it; empty if it is not the first part
     * @param text the text
     */
    private record ZipPart(String entry, String text) {}

    /** A zip that is taken away as it is made. For one thread at a time. */
    private static final class Zip {

        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final ZipOutputStream zip = new ZipOutputStream(bytes);

        byte[] add(ZipPart part) {
            try {
                if (!part.entry.isEmpty()) {
                    zip.putNextEntry(new ZipEntry(part.entry));
                }
                zip.write(part.text.getBytes(StandardCharsets.UTF_8));
                return taken();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        byte[] end() throws IOException {
            zip.close();
            return taken();
        }

        private byte[] taken() {
            byte[] made = bytes.toByteArray();
            bytes.reset();
            return made;
        }
    }

    /**
     * The files as one text.
     *
     * @param timeAt the index of the time in a line
     * @return the lines of all nodes in the order of time; those of a node stay in order
     */
    Flux<byte[]> text(List<String> nodes, String name, int timeAt) {
        if (nodes.size() == 1) {
            return counted(parts(nodes.get(0), name).map(text -> text.getBytes(StandardCharsets.UTF_8)));
        }
        return counted(Flux.defer(() -> {
            Batch batch = new Batch();
            Comparator<String> byTime = Comparator.comparing(line -> time(line, timeAt));
            return Flux.mergeComparing(1, byTime, lines(nodes, name))
                    .bufferUntil(batch::isFull)
                    .map(some -> String.join("", some).getBytes(StandardCharsets.UTF_8));
        }));
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of generic elements
    private Publisher<String>[] lines(List<String> nodes, String name) {
        return nodes.stream().map(node -> lines(node, name)).toArray(Publisher[]::new);
    }

    /** Whole lines of a file: a line that is longer than a part is put together. */
    private Flux<String> lines(String node, String name) {
        return Flux.defer(() -> {
            StringBuilder begun = new StringBuilder();
            return parts(node, name)
                    .publishOn(Schedulers.boundedElastic(), 1)
                    .concatMapIterable(part -> whole(begun.append(part)), 1)
                    .concatWith(Mono.defer(() -> begun.isEmpty()
                            ? Mono.empty()
                            : Mono.just(begun.append('\n').toString())));
        });
    }

    private static List<String> whole(StringBuilder text) {
        List<String> lines = new ArrayList<>();
        int begin = 0;
        for (int end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", begin)) {
            lines.add(text.substring(begin, end + 1));
            begin = end + 1;
        }
        text.delete(0, begin);
        return lines;
    }

    private static String time(String line, int at) {
        return line.substring(Math.min(at, line.length()), Math.min(at + TraceLine.TIME_CHARS, line.length()));
    }

    /** Tells which line is the last one of a part. For one thread at a time. */
    private static final class Batch {

        private int chars;

        boolean isFull(String line) {
            chars += line.length();
            if (chars < PART_BYTES) {
                return false;
            }
            chars = 0;
            return true;
        }
    }
}
