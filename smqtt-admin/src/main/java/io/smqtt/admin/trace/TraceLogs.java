// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.trace;

import io.smqtt.admin.JsonFields;
import io.smqtt.admin.broker.NodeCalls;
import io.smqtt.admin.object.LiveObject;
import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The files of traces on all nodes: sizes and parts. */
@AnyThread
class TraceLogs { // not final: tests replace the files

    private static final String DETAILS = "trace.details";
    private static final String PART = "trace.part";
    private static final int PART_BYTES = 512 << 10;
    private static final Duration PART_TIME = Duration.ofSeconds(10);

    private final NodeTraces traces;
    private final NodeCalls calls;

    TraceLogs(NodeTraces traces, NodeCalls calls) {
        this.traces = traces;
        this.calls = calls;
        calls.register(DETAILS, question -> blocking(this::detailsHere));
        calls.register(PART, question -> blocking(() -> partHere(question)));
    }

    private static <T> Mono<T> blocking(Callable<T> call) {
        return Mono.fromCallable(call).subscribeOn(Schedulers.boundedElastic());
    }

    // --- this node

    private Map<String, Object> detailsHere() throws IOException {
        Map<String, Object> all = new LinkedHashMap<>();
        for (LiveObject<TraceSpec> object : traces.specs().list()) {
            TraceFiles.Detail detail = traces.files().detail(object.id(), object.value());
            if (detail != null) {
                all.put(
                        object.id(),
                        Map.of("size", detail.size(), "mtime", detail.changed().getEpochSecond()));
            }
        }
        return all;
    }

    private Map<String, Object> partHere(JsonFields question) throws IOException {
        String name = question.text("name");
        LiveObject<TraceSpec> object = traces.specs().get(name);
        TraceFiles.Part part = object == null
                ? new TraceFiles.Part("", 0, 0)
                : traces.files().read(name, object.value(), question.number("position", 0, Long.MAX_VALUE), (int)
                        question.number("bytes", 1, PART_BYTES));
        return Map.of("text", part.text(), "next", part.next(), "size", part.size());
    }

    // --- all nodes

    /** The sizes and times of the files by trace, and then by node. */
    Mono<Map<String, Map<String, JsonFields>>> details() {
        return calls.askAll(DETAILS, Map.of()).map(answers -> {
            Map<String, Map<String, JsonFields>> all = new TreeMap<>();
            answers.byNode()
                    .forEach((node, byTrace) -> byTrace.forEach((trace, detail) -> {
                        if (detail instanceof Map<?, ?> fields) {
                            Map<String, Object> copy = new LinkedHashMap<>();
                            fields.forEach((key, value) -> copy.put(String.valueOf(key), value));
                            all.computeIfAbsent(trace, key -> new TreeMap<>()).put(node, JsonFields.of(copy));
                        }
                    }));
            return all;
        });
    }

    /** The name of this node. */
    String here() {
        return traces.node();
    }

    /** The nodes that have files of traces, or may have. */
    List<String> nodes() {
        return calls.nodes();
    }

    /**
     * Reads a part of a file.
     *
     * @return the part; empty if the node does not answer
     */
    Mono<TraceFiles.Part> part(String node, String name, long position, int bytes) {
        return part(node, name, position, bytes, PART_TIME);
    }

    /** The same with a time for the answer. */
    Mono<TraceFiles.Part> part(String node, String name, long position, int bytes, Duration deadline) {
        Map<String, Object> question = Map.of("name", name, "position", position, "bytes", Math.min(bytes, PART_BYTES));
        return calls.ask(Map.of(node, question), PART, deadline).mapNotNull(answers -> {
            Map<String, ?> found = answers.byNode().get(node);
            return found == null ? null : part(JsonFields.of(found));
        });
    }

    private static TraceFiles.Part part(JsonFields fields) {
        return new TraceFiles.Part(
                fields.text("text"),
                fields.number("next", 0, Long.MAX_VALUE),
                fields.number("size", 0, Long.MAX_VALUE));
    }
}
