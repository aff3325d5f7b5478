// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.schema;

import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.admin.object.Expected;
import io.smqtt.admin.object.LiveObject;
import io.smqtt.admin.security.ObjectProblems;
import io.smqtt.admin.security.Origins;
import io.smqtt.spi.PayloadChecks;
import io.smqtt.thread.AnyThread;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** {@code /schema_registry}: the JSON Schemas of checks of payloads. */
@AnyThread
public final class SchemaRoutes implements RouteGroup {

    private static final String PATH = "/schema_registry";
    private static final String NAMED = PATH + "/{name}";
    private static final String NAME = "name";
    private static final String MISSING = "NOT_FOUND";
    private static final String TYPE = "json";
    private static final int BODY_BYTES = 2 * SchemaRegistry.MAX_BYTES;
    private static final Pattern NAMES = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}");

    private final SchemaRegistry registry;

    /**
     * Creates the routes.
     *
     * @param registry the schemas
     */
    public SchemaRoutes(SchemaRegistry registry) {
        this.registry = registry;
    }

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get(PATH, Role.VIEWER, request -> Mono.fromSupplier(this::list)),
                new Route("POST", PATH, Role.OPERATOR, BODY_BYTES, this::add),
                Route.get(NAMED, Role.VIEWER, this::show),
                new Route("PUT", NAMED, Role.OPERATOR, BODY_BYTES, this::replace),
                Route.delete(NAMED, Role.OPERATOR, this::remove));
    }

    private ApiAnswer list() {
        return ApiAnswer.json(
                registry.objects().list().stream().map(SchemaRoutes::fields).toList());
    }

    private Mono<ApiAnswer> show(ApiRequest request) {
        LiveObject<SchemaObject> object = registry.objects().get(request.path(NAME));
        if (object == null) {
            throw new Problem(404, MISSING, "there is no such schema").exception();
        }
        return Mono.just(ApiAnswer.json(fields(object)));
    }

    private static Map<String, Object> fields(LiveObject<SchemaObject> object) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put(NAME, object.id());
        all.put("type", TYPE);
        all.put("source", object.value().source());
        all.put("description", object.value().description());
        return all;
    }

    private Mono<ApiAnswer> add(ApiRequest request) {
        JsonFields fields = request.fields();
        String name = fields.text(NAME);
        if (!NAMES.matcher(name).matches()) {
            throw Problem.badRequest(
                            "the field name must have 1 to 128 letters, digits, _, . and -, and begin with none of the last two")
                    .exception();
        }
        return put(request, name, fields, Expected.NOTHING);
    }

    private Mono<ApiAnswer> replace(ApiRequest request) {
        return put(request, request.path(NAME), request.fields(), Expected.SOMETHING);
    }

    private Mono<ApiAnswer> put(ApiRequest request, String name, JsonFields fields, Expected expected) {
        String type = fields.textOrNull("type");
        if (type != null && !type.equals(TYPE)) {
            throw Problem.badRequest("the field type must be " + TYPE).exception();
        }
        PayloadChecks checks = registry.checks();
        if (checks == null) {
            throw Problem.badRequest("this broker has no module that checks payloads")
                    .exception();
        }
        SchemaObject value = new SchemaObject(
                fields.text("source"), Objects.requireNonNullElse(fields.textOrNull("description"), ""));
        Mono<ApiAnswer> made = registry.objects()
                .put(name, value, expected, Origins.of(request))
                .map(object -> ApiAnswer.json(fields(object)));
        return ObjectProblems.answered(
                problem(checks, value.source())
                        .<ApiAnswer>map(problem -> Problem.badRequest("the field source is " + problem)
                                .answer())
                        .switchIfEmpty(made),
                MISSING);
    }

    /** Why a schema cannot be used; empty if it can. */
    private static Mono<String> problem(PayloadChecks checks, String source) {
        return Mono.defer(() -> Mono.justOrEmpty(reason(checks, source))).subscribeOn(Schedulers.boundedElastic());
    }

    private static @Nullable String reason(PayloadChecks checks, String source) {
        try {
            checks.testSchema(source);
            return null;
        } catch (IllegalArgumentException e) {
            return "no schema: " + e.getMessage();
        }
    }

    private Mono<ApiAnswer> remove(ApiRequest request) {
        return ObjectProblems.answered(
                registry.objects()
                        .delete(request.path(NAME), Expected.SOMETHING, Origins.of(request))
                        .thenReturn(ApiAnswer.noContent()),
                MISSING);
    }
}
