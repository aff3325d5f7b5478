// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.log;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.admin.log.LogLevels.Entry;
import io.smqtt.thread.AnyThread;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.OffsetDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** {@code /loggers}: the levels of the loggers of this node, with the fields of Spring Boot's actuator. */
@AnyThread
public final class LoggerRoutes implements RouteGroup {

    private static final int BODY_BYTES = 1 << 10;
    private static final Duration LONGEST = Duration.ofHours(24);
    private static final String NAME = "name";
    private static final String LEVEL = "configuredLevel";
    private static final String UNTIL = "until";
    private static final long MAX_SECOND = 253_402_300_799L; // of the year 9999

    private final LogLevelChanges changes;
    private final Supplier<@Nullable LogLevels> levels;
    private final InstantSource clock;

    /**
     * Creates the routes.
     *
     * @param changes sets levels
     * @param clock the time of day
     */
    public LoggerRoutes(LogLevelChanges changes, InstantSource clock) {
        this(changes, LogLevels::present, clock);
    }

    LoggerRoutes(LogLevelChanges changes, Supplier<@Nullable LogLevels> levels, InstantSource clock) {
        this.changes = changes;
        this.levels = levels;
        this.clock = clock;
    }

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get("/loggers", Role.ADMINISTRATOR, this::list),
                Route.get("/loggers/{name}", Role.ADMINISTRATOR, this::one),
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

    private Mono<ApiAnswer> list(ApiRequest request) {
        Map<String, Object> loggers = new LinkedHashMap<>();
        present().all().forEach(entry -> loggers.put(entry.name(), fields(entry)));
        return Mono.just(ApiAnswer.json(Map.of("levels", LogLevelChanges.LEVELS, "loggers", loggers)));
    }

    private static Map<String, Object> fields(Entry entry) {
        Map<String, Object> fields = new LinkedHashMap<>();
        if (entry.configured() != null) {
            fields.put(LEVEL, entry.configured());
        }
        fields.put("effectiveLevel", entry.effective());
        return fields;
    }

    private Mono<ApiAnswer> one(ApiRequest request) {
        return Mono.just(ApiAnswer.json(fields(present().get(name(request)))));
    }

    private static String name(ApiRequest request) {
        String name = request.path(NAME);
        if (!name.matches("[A-Za-z0-9_.$-]{1,256}")) {
            throw Problem.badRequest("the name of a logger has letters, digits, dots, $, _ and -, at most 256")
                    .exception();
        }
        return name;
    }

    private Mono<ApiAnswer> change(ApiRequest request) {
        LogLevels present = present();
        String name = name(request);
        JsonFields fields = request.fields();
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
        changes.set(present, name, level, time(fields));
        return Mono.just(ApiAnswer.noContent());
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
