// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.security;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.admin.InvalidFieldException;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.Accounts;
import io.smqtt.admin.account.ApiKey;
import io.smqtt.admin.account.Formats;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.admin.object.LiveObject;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** {@code /api_key}: the keys of scripts. */
public final class KeyRoutes implements RouteGroup {

    private static final int BODY_BYTES = 8_192;
    private static final long MAX_SECOND = 253_402_300_799L; // of the year 9999
    private static final String MISSING = "NOT_FOUND";
    private static final String NAME = "name";
    private static final String ENABLE = "enable";
    private static final String EXPIRES = "expired_at";
    private static final String INFINITY = "infinity";
    private static final String DESCRIPTION = "desc";

    private final Accounts accounts;

    /**
     * Creates the routes.
     *
     * @param accounts the keys
     */
    public KeyRoutes(Accounts accounts) {
        this.accounts = accounts;
    }

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get("/api_key", Role.ADMINISTRATOR, this::list),
                new Route("POST", "/api_key", Role.ADMINISTRATOR, BODY_BYTES, this::create),
                Route.get("/api_key/{name}", Role.ADMINISTRATOR, this::one),
                new Route("PUT", "/api_key/{name}", Role.ADMINISTRATOR, BODY_BYTES, this::change),
                Route.delete("/api_key/{name}", Role.ADMINISTRATOR, this::delete));
    }

    private Mono<ApiAnswer> list(ApiRequest request) {
        return Mono.just(ApiAnswer.json(
                accounts.keys().list().stream().map(KeyRoutes::fields).toList()));
    }

    private Mono<ApiAnswer> one(ApiRequest request) {
        return Mono.just(ApiAnswer.json(fields(found(request))));
    }

    private static Map<String, Object> fields(LiveObject<ApiKey> object) {
        ApiKey key = object.value();
        Instant expiresAt = key.expiresAt();
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put(NAME, object.id());
        fields.put("api_key", key.key());
        fields.put("role", key.role().text());
        fields.put(ENABLE, key.enabled());
        fields.put(EXPIRES, expiresAt == null ? INFINITY : expiresAt.toString());
        fields.put("expired", key.isExpired(Instant.now()));
        fields.put("created_at", key.createdAt().toString());
        fields.put(DESCRIPTION, key.description());
        fields.put("backend", object.isReadOnly() ? "file" : "local");
        fields.put(ObjectProblems.VERSION, object.version());
        return fields;
    }

    private Mono<ApiAnswer> create(ApiRequest request) {
        Origins.requirePerson(request);
        JsonFields fields = request.fields();
        Role role = Formats.keyRole(fields);
        Mono<ApiAnswer> answer = accounts.createKey(
                        fields.text(NAME),
                        role == null ? Role.ADMINISTRATOR : role,
                        !fields.has(ENABLE) || fields.flag(ENABLE),
                        expiry(fields, null),
                        Formats.description(fields, DESCRIPTION),
                        Origins.of(request))
                .map(made -> {
                    Map<String, Object> all = fields(made.object());
                    all.put("api_secret", made.secret());
                    return ApiAnswer.json(all);
                });
        return ObjectProblems.answered(answer, MISSING);
    }

    /** The expiry as a text of RFC 3339, in seconds since 1970, or infinity; null for none. */
    private static @Nullable Instant expiry(JsonFields fields, @Nullable Instant missing) {
        if (!fields.has(EXPIRES)) {
            return missing;
        }
        JsonNode value = fields.node().get(EXPIRES);
        if (value.isIntegralNumber()) {
            return Instant.ofEpochSecond(fields.number(EXPIRES, 0, MAX_SECOND));
        }
        String text = fields.textOrNull(EXPIRES);
        if (text == null || text.equals(INFINITY)) {
            return null;
        }
        try {
            Instant at = OffsetDateTime.parse(text).toInstant();
            if (at.getEpochSecond() >= 0 && at.getEpochSecond() <= MAX_SECOND) {
                return Instant.ofEpochSecond(at.getEpochSecond());
            }
        } catch (DateTimeException e) {
            throw noTime();
        }
        throw noTime();
    }

    private static InvalidFieldException noTime() {
        return new InvalidFieldException("the field " + EXPIRES + " must be infinity or a time of RFC 3339");
    }

    private LiveObject<ApiKey> found(ApiRequest request) {
        LiveObject<ApiKey> key = accounts.keys().get(request.path(NAME));
        if (key == null) {
            throw new Problem(404, MISSING, "there is no such API key").exception();
        }
        return key;
    }

    private Mono<ApiAnswer> change(ApiRequest request) {
        Origins.requirePerson(request);
        JsonFields fields = request.fields();
        LiveObject<ApiKey> object = found(request);
        ApiKey before = object.value();
        Role role = Formats.keyRole(fields);
        ApiKey after = new ApiKey(
                before.key(),
                before.secretHash(),
                role == null ? before.role() : role,
                fields.has(ENABLE) ? fields.flag(ENABLE) : before.enabled(),
                expiry(fields, before.expiresAt()),
                before.createdAt(),
                fields.has(DESCRIPTION) ? Formats.description(fields, DESCRIPTION) : before.description());
        long version = fields.has(ObjectProblems.VERSION)
                ? fields.number(ObjectProblems.VERSION, 0, Long.MAX_VALUE)
                : object.version();
        Mono<ApiAnswer> answer = accounts.keys()
                .put(object.id(), after, ObjectProblems.expected(version), Origins.of(request))
                .map(changed -> ApiAnswer.json(fields(changed)));
        return ObjectProblems.answered(answer, MISSING);
    }

    private Mono<ApiAnswer> delete(ApiRequest request) {
        Origins.requirePerson(request);
        return ObjectProblems.answered(
                accounts.keys()
                        .delete(
                                request.path(NAME),
                                ObjectProblems.expected(UserRoutes.version(request)),
                                Origins.of(request))
                        .thenReturn(ApiAnswer.noContent()),
                MISSING);
    }
}
