// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.security;

import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.ProblemException;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.admin.broker.NodeCalls;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** {@code /audit}: the last lines of all nodes, the newest first. */
public final class AuditRoutes implements RouteGroup {

    private static final int DEFAULT_LIMIT = 100;
    private static final int MAX_LIMIT = 1_000;
    private static final String FROM = "gte_created_at";
    private static final String TO = "lte_created_at";
    private static final List<String> EXACT = List.of(
            "node",
            "from",
            "source",
            "source_ip",
            "operation_id",
            "operation_type",
            "operation_result",
            "http_status_code",
            "http_method");

    private static final String CALL = "audit.list";
    private static final String ROWS = "rows";
    private static final String COUNT = "count";
    private static final String CREATED = "created_at";

    private final Audit audit;
    private final NodeCalls calls;

    /**
     * Creates the routes.
     *
     * @param audit the audit of this node
     * @param calls reaches the other nodes
     */
    public AuditRoutes(Audit audit, NodeCalls calls) {
        this.audit = audit;
        this.calls = calls;
        calls.register(CALL, question -> Mono.fromCallable(() -> found(question)));
    }

    @Override
    public List<Route> routes() {
        return List.of(Route.get("/audit", Role.ADMINISTRATOR, this::list));
    }

    private Mono<ApiAnswer> list(ApiRequest request) {
        int page = (int) request.number("page", 1, 1, MAX_LIMIT);
        int limit = (int) request.number("limit", DEFAULT_LIMIT, 1, MAX_LIMIT);
        Map<String, Object> question = new LinkedHashMap<>();
        question.put("most", (long) page * limit);
        for (String name : List.of(FROM, TO)) {
            Instant time = time(request, name);
            if (time != null) {
                question.put(name, time.toString());
            }
        }
        for (String name : EXACT) {
            String wanted = request.query(name);
            if (wanted != null) {
                question.put(name, wanted);
            }
        }
        return calls.askAll(CALL, question).map(answers -> answer(answers, page, limit));
    }

    /** The lines of this node that a question asks for, the newest first, and the number of all. */
    private Map<String, Object> found(JsonFields question) {
        String from = question.textOrNull(FROM);
        String to = question.textOrNull(TO);
        List<Map<String, Object>> found = audit.last().stream()
                .filter(entry -> from == null || !entry.createdAt().isBefore(Instant.parse(from)))
                .filter(entry -> to == null || !entry.createdAt().isAfter(Instant.parse(to)))
                .map(AuditEntry::toFields)
                .filter(fields -> matches(question, fields))
                .toList();
        long most = question.number("most", 0, Long.MAX_VALUE);
        return Map.of(ROWS, found.stream().limit(most).toList(), COUNT, found.size());
    }

    private static ApiAnswer answer(NodeCalls.Answers answers, int page, int limit) {
        List<Line> all = new ArrayList<>();
        long count = 0;
        for (Map<String, ?> answer : answers.byNode().values()) {
            if (answer.get(ROWS) instanceof List<?> rows && answer.get(COUNT) instanceof Number number) {
                List<Line> read =
                        rows.stream().map(Line::of).filter(Objects::nonNull).toList();
                all.addAll(read);
                count += number.longValue() - (rows.size() - read.size());
            }
        }
        all.sort(Comparator.comparing(Line::created).reversed());
        long skipped = Math.min((long) (page - 1) * limit, all.size());
        List<Map<?, ?>> shown = all.stream()
                .skip(skipped)
                .limit(limit)
                .<Map<?, ?>>map(Line::fields)
                .toList();
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("data", shown);
        fields.put(
                "meta", Map.of("page", page, "limit", limit, COUNT, count, "hasnext", skipped + shown.size() < count));
        if (!answers.incomplete().isEmpty()) {
            fields.put("incomplete", answers.incomplete());
        }
        return ApiAnswer.json(fields);
    }

    /** A line of any node. */
    private record Line(Instant created, Map<?, ?> fields) {

        /** {@return the line; null if it has no time that can be read, as those of a later version may} */
        static @Nullable Line of(Object row) {
            if (row instanceof Map<?, ?> fields && fields.get(CREATED) instanceof String created) {
                try {
                    return new Line(Instant.parse(created), fields);
                } catch (DateTimeParseException e) {
                    return null;
                }
            }
            return null;
        }
    }

    private static boolean matches(JsonFields question, Map<String, Object> fields) {
        for (String name : EXACT) {
            String wanted = question.textOrNull(name);
            if (wanted != null && !wanted.equalsIgnoreCase(Objects.toString(fields.get(name)))) {
                return false;
            }
        }
        return true;
    }

    private static @Nullable Instant time(ApiRequest request, String name) {
        String text = request.query(name);
        if (text == null) {
            return null;
        }
        try {
            return text.matches("[0-9]{1,16}")
                    ? Instant.EPOCH.plus(Long.parseLong(text), ChronoUnit.MICROS)
                    : OffsetDateTime.parse(text.replace(' ', '+')).toInstant(); // a plus that was not encoded
        } catch (DateTimeException e) {
            throw noTime(name);
        }
    }

    private static ProblemException noTime(String name) {
        return Problem.badRequest("the parameter " + name + " must be a time of RFC 3339, or microseconds since 1970")
                .exception();
    }
}
