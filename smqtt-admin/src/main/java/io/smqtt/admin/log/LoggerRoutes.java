// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.log;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.admin.BrokerView;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.admin.broker.NodeCalls;
import io.smqtt.admin.log.LogLevels.Entry;
import io.smqtt.thread.AnyThread;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * {@code /loggers}: the levels of the loggers of a node, with the fields of Spring Boot's actuator. A level is set on all nodes, or on one.
 */
@AnyThread
public final class LoggerRoutes implements RouteGroup {

    private static final int BODY_BYTES = 1 << 10;
    private static final Duration LONGEST = Duration.ofHours(24);
    private static final String NODE = "node";
    private static final String NAME = "name";
    private static final String LEVEL = "configuredLevel";
    private static final String UNTIL = "until";
    private static final String MILLIS = "millis";
    private static final String LIST = "loggers.list";
    private static final String SHOW = "logger.show";
    private static final String SET = "logger.set";
    private static final long MAX_SECOND = 253_402_300_799L; // of the year 9999

    private final BrokerView view;
    private final NodeCalls calls;
    private final LogLevelChanges changes;
    private final Supplier<@Nullable LogLevels> levels;
    private final InstantSource clock;

    /**
     * Creates the routes.
     *
     * @param view the broker
     * @param calls reaches the other nodes
     * @param changes sets levels
     * @param clock the time of day
     */
    public LoggerRoutes(BrokerView view, NodeCalls calls, LogLevelChanges changes, InstantSource clock) {
        this(view, calls, changes, LogLevels::present, clock);
    }

    LoggerRoutes(
            BrokerView view,
            NodeCalls calls,
            LogLevelChanges changes,
            Supplier<@Nullable LogLevels> levels,
            InstantSource clock) {
        this.view = view;
        this.calls = calls;
        this.changes = changes;
        this.levels = levels;
        this.clock = clock;
        calls.register(LIST, question -> Mono.fromCallable(this::listHere));
        calls.register(
                SHOW, question -> Mono.fromCallable(() -> fields(present().get(question.text(NAME)))));
        calls.register(SET, question -> Mono.fromCallable(() -> setHere(question)));
    }

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get("/loggers", Role.ADMINISTRATOR, request -> show(request, LIST, Map.of())),
                Route.get(
                        "/loggers/{name}",
                        Role.ADMINISTRATOR,
                        request -> show(request, SHOW, Map.of(NAME, name(request.path(NAME))))),
                new Route("POST", "/loggers/{name}", Role.ADMINISTRATOR, BODY_BYTES, this::change));
    }

    private LogLevels present() {
        LogLevels present = levels.get();
        if (present == null) {
            throw new Problem(
                            501,
                            "NOT_IMPLEMENTED",
                            "levels can be set if SLF4J writes to logback, which it does not in this process")
                    .exception();
        }
        return present;
    }

    /** Asks the node that the request names, or this one. */
    private Mono<ApiAnswer> show(ApiRequest request, String call, Map<String, ?> question) {
        String node = request.query(NODE);
        return calls.askOne(node == null ? view.nodeName() : node, call, question)
                .map(ApiAnswer::json);
    }

    private Map<String, Object> listHere() {
        Map<String, Object> loggers = new LinkedHashMap<>();
        present().all().forEach(entry -> loggers.put(entry.name(), fields(entry)));
        return Map.of("levels", LogLevelChanges.LEVELS, "loggers", loggers);
    }

    private static Map<String, Object> fields(Entry entry) {
        Map<String, Object> fields = new LinkedHashMap<>();
        if (entry.configured() != null) {
            fields.put(LEVEL, entry.configured());
        }
        fields.put("effectiveLevel", entry.effective());
        return fields;
    }

    private static String name(String name) {
        if (!name.matches("[A-Za-z0-9_.$-]{1,256}")) {
            throw Problem.badRequest("the name of a logger has letters, digits, dots, $, _ and -, at most 256")
                    .exception();
        }
        return name;
    }

    private static @Nullable String level(String name, JsonFields fields) {
        String level = fields.textOrNull(LEVEL);
        if (level != null) {
            level = level.toUpperCase(Locale.ROOT);
            if (!LogLevelChanges.LEVELS.contains(level)) {
                throw Problem.badRequest("the field configuredLevel must be null or one of "
                                + String.join(", ", LogLevelChanges.LEVELS))
                        .exception();
            }
        } else if (name.equals(LogLevels.ROOT)) {
            throw Problem.badRequest("the logger ROOT needs a level").exception();
        }
        return level;
    }

    /** Sends the remaining time, not the point in time: the clocks of the nodes may differ. */
    private Mono<ApiAnswer> change(ApiRequest request) {
        JsonFields fields = request.fields();
        Map<String, Object> question = new LinkedHashMap<>();
        String name = name(request.path(NAME));
        question.put(NAME, name);
        String level = level(name, fields);
        if (level != null) {
            question.put(LEVEL, level);
        }
        Duration time = time(fields);
        if (time != null) {
            question.put(MILLIS, Math.max(1, time.toMillis()));
        }
        String node = request.query(NODE);
        return node == null
                ? calls.askAll(SET, question)
                        .map(answers -> answer(answers.byNode().keySet(), answers.incomplete()))
                : calls.askOne(node, SET, question).map(done -> answer(List.of(node), List.of()));
    }

    private static ApiAnswer answer(Collection<String> nodes, List<String> incomplete) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("nodes", List.copyOf(nodes));
        if (!incomplete.isEmpty()) {
            fields.put("incomplete", incomplete);
        }
        return ApiAnswer.json(fields);
    }

    private Map<String, Object> setHere(JsonFields question) {
        String name = name(question.text(NAME));
        Duration time = question.has(MILLIS) ? Duration.ofMillis(question.number(MILLIS, 1, LONGEST.toMillis())) : null;
        changes.set(present(), name, level(name, question), time);
        return Map.of("done", true);
    }

    /** The time until the level goes back; null if it stays. */
    private @Nullable Duration time(JsonFields fields) {
        JsonNode node = fields.node().path(UNTIL);
        if (node.isMissingNode() || node.isNull()) {
            return null;
        }
        Instant until = node.isIntegralNumber()
                ? Instant.ofEpochSecond(fields.number(UNTIL, 0, MAX_SECOND))
                : instant(fields.text(UNTIL));
        Duration time = Duration.between(clock.instant(), until);
        if (time.isNegative() || time.isZero() || time.compareTo(LONGEST) > 0) {
            throw Problem.badRequest("the field until must be within 24 hours from now")
                    .exception();
        }
        return time;
    }

    private static Instant instant(String text) {
        try {
            return OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeException e) {
            throw Problem.badRequest("the field until must be a time of RFC 3339, or seconds since 1970")
                    .exception();
        }
    }
}
