// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.Cut;
import io.smqtt.admin.Json;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.Slice;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A list over all nodes, by page or by cursor. Nodes come one after the other in the order of their names, and each has its own order.
 * A cursor is the node and the hash of the last entry, so that sessions that come and go repeat no others.
 */
final class ClusterList {

    private static final int DEFAULT_LIMIT = 100;
    private static final int MOST_PAGES = 1_000_000;
    private static final int MOST_SKIPPED = Integer.MAX_VALUE - BrokerView.MAX_ENTRIES;

    /** The time of the first of two questions, so that a node that does not answer leaves the others theirs. */
    private static final Duration COUNTING = NodeCalls.DEADLINE.dividedBy(2);

    private static final String SHORTENED = "shortened";

    private static final Pattern CURSOR = Pattern.compile("(-?\\d{1,19}) (.{1,255})", Pattern.DOTALL);

    private final NodeCalls calls;
    private final String call;
    private final Map<String, ?> filter;
    private final int limit;
    private final int page;
    private final List<String> nodes;

    private ClusterList(NodeCalls calls, String call, ApiRequest request, Map<String, ?> filter) {
        this.calls = calls;
        this.call = call;
        this.filter = filter;
        limit = (int) request.number("limit", DEFAULT_LIMIT, 1, BrokerView.MAX_ENTRIES);
        page = (int) request.number("page", 1, 1, MOST_PAGES);
        String node = request.query("node");
        nodes = node == null ? calls.nodes() : List.of(known(calls, node));
    }

    private static String known(NodeCalls calls, String node) {
        if (!calls.nodes().contains(node)) {
            throw new Problem(404, "NODE_NOT_FOUND", "there is no such node").exception();
        }
        return node;
    }

    /**
     * Answers a request for a list.
     *
     * @param calls reaches the nodes
     * @param call the name of the call that returns {@link #part} of a node
     * @param request has the parameters page and limit, or cursor and limit, and node
     * @param filter passed to each node
     */
    static Mono<ApiAnswer> answer(NodeCalls calls, String call, ApiRequest request, Map<String, ?> filter) {
        ClusterList list = new ClusterList(calls, call, request, filter);
        String cursor = request.query("cursor");
        Mono<Map<String, Object>> answer = cursor == null ? list.page() : list.after(cursor);
        return answer.map(ApiAnswer::json);
    }

    /** The part that a node is asked for. */
    static Cut cut(JsonFields question) {
        long after = Cut.START;
        try {
            after = Long.parseLong(question.text("after"));
        } catch (NumberFormatException e) {
            throw Problem.badRequest("the cursor cannot be used").exception();
        }
        return new Cut(after, (int) question.number("skip", 0, MOST_SKIPPED), (int)
                question.number("limit", 0, BrokerView.MAX_ENTRIES));
    }

    /** The answer of a node. Each row becomes JSON at once, which takes a fraction of the memory of its fields. */
    static <T> Map<String, Object> part(Slice<T> slice, Function<? super T, ?> fields) {
        Map<String, Object> part = new LinkedHashMap<>();
        part.put("total", slice.total());
        part.put("last", Long.toString(slice.last()));
        part.put("more", slice.more());
        part.put(SHORTENED, slice.shortened());
        part.put(
                "rows",
                slice.rows().stream().map(row -> Json.raw(fields.apply(row))).toList());
        return part;
    }

    private Map<String, Object> question(long after, int skip, int most) {
        Map<String, Object> question = new LinkedHashMap<>(filter);
        question.put("after", Long.toString(after));
        question.put("skip", skip);
        question.put("limit", most);
        return question;
    }

    private static boolean isShortened(Map<String, ?> part) {
        return Boolean.TRUE.equals(part.get(SHORTENED));
    }

    private static int total(Map<String, ?> part) {
        return part.get("total") instanceof Number number ? number.intValue() : 0;
    }

    private static List<?> rows(Map<String, ?> part) {
        return part.get("rows") instanceof List<?> rows ? rows : List.of();
    }

    /** The hash of the last row; null if it cannot be read, because the node runs a later version. */
    private static @Nullable Long last(Map<String, ?> part) {
        try {
            return part.get("last") instanceof String last ? Long.valueOf(last) : null;
        } catch (NumberFormatException e) {
            return null;
        }
    }

    // --- by page

    private Mono<Map<String, Object>> page() {
        long skip = (page - 1L) * limit;
        Map<String, Map<String, ?>> first = new LinkedHashMap<>();
        boolean alone = nodes.size() == 1;
        int here = (int) Math.min(skip, MOST_SKIPPED);
        nodes.forEach(node -> first.put(
                node, alone ? question(Cut.START, here, limit) : question(Cut.START, 0, skip == 0 ? limit : 0)));
        long begin = System.nanoTime();
        boolean once = alone || skip == 0;
        return calls.ask(first, call, once ? NodeCalls.DEADLINE : COUNTING).flatMap(answers -> {
            if (once) {
                return Mono.just(page(skip, answers, answers));
            }
            Map<String, Map<String, ?>> second = overlapping(answers, skip);
            Duration rest = NodeCalls.DEADLINE.minusNanos(System.nanoTime() - begin);
            return calls.ask(second, call, rest).map(found -> page(skip, answers, found));
        });
    }

    /** The questions for the nodes that have a part of the page. */
    private Map<String, Map<String, ?>> overlapping(NodeCalls.Answers counts, long skip) {
        Map<String, Map<String, ?>> questions = new LinkedHashMap<>();
        long before = 0;
        for (Map.Entry<String, Map<String, ?>> node : counts.byNode().entrySet()) {
            int total = total(node.getValue());
            long from = Math.max(0, skip - before);
            long to = Math.min(total, skip + limit - before);
            if (from < to) {
                questions.put(node.getKey(), question(Cut.START, (int) from, (int) (to - from)));
            }
            before += total;
        }
        return questions;
    }

    private Map<String, Object> page(long skip, NodeCalls.Answers counts, NodeCalls.Answers found) {
        long count =
                counts.byNode().values().stream().mapToLong(ClusterList::total).sum();
        List<Object> rows = new ArrayList<>();
        found.byNode().values().forEach(part -> rows.addAll(rows(part)));
        List<?> shown = rows.size() <= limit ? rows : rows.subList(0, limit);
        Map<String, Object> meta = new LinkedHashMap<>();
        meta.put("page", page);
        meta.put("limit", limit);
        meta.put("count", count);
        meta.put("hasnext", skip + shown.size() < count);
        if (found.byNode().values().stream().anyMatch(ClusterList::isShortened)) {
            meta.put("truncated", true);
        }
        List<String> incomplete = new ArrayList<>(counts.incomplete());
        found.incomplete().stream().filter(node -> !incomplete.contains(node)).forEach(incomplete::add);
        return answer(shown, meta, incomplete);
    }

    private static Map<String, Object> answer(List<?> rows, Map<String, Object> meta, List<String> incomplete) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("data", rows);
        answer.put("meta", meta);
        if (!incomplete.isEmpty()) {
            answer.put("incomplete", incomplete);
        }
        return answer;
    }

    // --- by cursor

    /** The rows so far, and where to continue. */
    private static final class Progress {

        private final List<Object> rows = new ArrayList<>();
        private final List<String> incomplete = new ArrayList<>();
        private final long begin = System.nanoTime();
        private int index;
        private long after = Cut.START;
    }

    private Mono<Map<String, Object>> after(String cursor) {
        Progress progress = new Progress();
        if (!cursor.isEmpty()) {
            Matcher parts = CURSOR.matcher(decoded(cursor));
            if (!parts.matches()) {
                throw Problem.badRequest("the cursor cannot be used").exception();
            }
            String node = parts.group(2);
            while (progress.index < nodes.size() && nodes.get(progress.index).compareTo(node) < 0) {
                progress.index++;
            }
            if (progress.index < nodes.size() && nodes.get(progress.index).equals(node)) {
                try {
                    progress.after = Long.parseLong(parts.group(1));
                } catch (NumberFormatException e) {
                    throw Problem.badRequest("the cursor cannot be used").exception();
                }
            }
        }
        return next(progress);
    }

    private static String decoded(String cursor) {
        try {
            return new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw Problem.badRequest("the cursor cannot be used").exception();
        }
    }

    private Mono<Map<String, Object>> next(Progress progress) {
        if (progress.index >= nodes.size()) {
            return Mono.just(after(progress, null));
        }
        String node = nodes.get(progress.index);
        if (progress.rows.size() == limit) {
            return Mono.just(after(progress, progress.after + " " + node));
        }
        Duration rest = NodeCalls.DEADLINE.minusNanos(System.nanoTime() - progress.begin);
        Map<String, ?> question = question(progress.after, 0, limit - progress.rows.size());
        return calls.ask(Map.of(node, question), call, rest.isNegative() ? Duration.ZERO : rest)
                .flatMap(answers -> {
                    Map<String, ?> part = answers.byNode().getOrDefault(node, Map.of());
                    boolean more = Boolean.TRUE.equals(part.get("more"));
                    Long last = more ? last(part) : null;
                    boolean silent = part.isEmpty() || more && last == null;
                    progress.rows.addAll(rows(part));
                    if (silent) {
                        progress.incomplete.add(node);
                    }
                    if (last == null) {
                        progress.index++;
                        progress.after = Cut.START;
                    } else {
                        progress.after = last;
                    }
                    if (silent) {
                        return Mono.just(after(progress, beginOf(progress.index)));
                    }
                    return isShortened(part) ? Mono.just(after(progress, progress.after + " " + node)) : next(progress);
                });
    }

    /** Where the next part continues after a node that has used up the time of this one. */
    private @Nullable String beginOf(int index) {
        return index < nodes.size() ? Cut.START + " " + nodes.get(index) : null;
    }

    private Map<String, Object> after(Progress progress, @Nullable String cursor) {
        Map<String, Object> meta = new LinkedHashMap<>();
        meta.put("limit", limit);
        meta.put("count", progress.rows.size());
        meta.put("hasnext", cursor != null);
        if (cursor != null) {
            meta.put(
                    "cursor",
                    Base64.getUrlEncoder().withoutPadding().encodeToString(cursor.getBytes(StandardCharsets.UTF_8)));
        }
        return answer(progress.rows, meta, progress.incomplete);
    }
}
