// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.rule;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.broker.NodeCalls;
import io.smqtt.admin.broker.NodeObjectRoutes;
import io.smqtt.admin.object.Expected;
import io.smqtt.admin.object.LiveObject;
import io.smqtt.admin.security.ObjectProblems;
import io.smqtt.admin.security.Origins;
import io.smqtt.spi.SourceStatus;
import io.smqtt.spi.Sources;
import io.smqtt.spi.Sources.Operation;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * {@code /sources}: the sources of the configuration and those of operators, with states and counts of all nodes, and what operators do with them.
 */
@AnyThread
public final class SourceRoutes extends NodeObjectRoutes<Operation> {

    /** Maximum size of the body of a source. */
    static final int BODY_BYTES = 64 << 10;

    private static final String ID = "id";
    private static final String MISSING = "NOT_FOUND";
    private static final String ONE = "/sources/{id}";
    private static final List<String> COUNTS =
            List.of("received", "published", "refused", "failed", "inflight", "rejected");

    private final BrokerView view;
    private final SourceObjects objects;

    /**
     * Creates the routes.
     *
     * @param view the broker
     * @param calls reaches the other nodes
     * @param objects the sources of operators
     */
    public SourceRoutes(BrokerView view, NodeCalls calls, SourceObjects objects) {
        super(calls, "source", Operation.class, COUNTS);
        this.view = view;
        this.objects = objects;
    }

    @Override
    public List<Route> routes() {
        List<Route> routes = new ArrayList<>(super.routes());
        routes.add(new Route("POST", "/sources", Role.ADMINISTRATOR, BODY_BYTES, this::add));
        routes.add(new Route("PUT", ONE, Role.ADMINISTRATOR, BODY_BYTES, this::replace));
        routes.add(Route.delete(ONE, Role.ADMINISTRATOR, this::remove));
        routes.add(new Route("POST", ONE + "/enable", Role.ADMINISTRATOR, 0, request -> enable(request, true)));
        routes.add(new Route("POST", ONE + "/disable", Role.ADMINISTRATOR, 0, request -> enable(request, false)));
        routes.add(Route.post(ONE + "/probe", Role.OPERATOR, this::probe));
        return routes;
    }

    // --- states

    @Override
    protected List<Map<String, Object>> here() {
        Sources sources = view.sourcesHere();
        if (sources == null) {
            return List.of();
        }
        Map<String, Map<String, Object>> byName = new LinkedHashMap<>();
        sources.status().forEach(source -> byName.put(source.name(), fields(source)));
        objects.kind().list().forEach(object -> byName.putIfAbsent(object.id(), idle(object)));
        return List.copyOf(byName.values());
    }

    private static Map<String, Object> fields(SourceStatus source) {
        Map<String, Object> metrics = new LinkedHashMap<>();
        metrics.put("received", source.received());
        metrics.put("published", source.published());
        metrics.put("refused", source.refused());
        metrics.put("failed", source.failed());
        metrics.put("inflight", source.inflight());
        metrics.put("rejected", source.rejected());
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("name", source.name());
        all.put("type", source.type());
        all.put("status", source.state().name().toLowerCase(Locale.ROOT));
        if (source.lastError() != null) {
            all.put("status_reason", source.lastError());
        }
        if (source.lag() != null) {
            all.put("lag", source.lag());
        }
        all.put(METRICS, metrics);
        return all;
    }

    /** A source that is switched off, or is about to begin. */
    private static Map<String, Object> idle(LiveObject<LiveSource> object) {
        Map<String, Object> metrics = new LinkedHashMap<>();
        COUNTS.forEach(count -> metrics.put(count, 0));
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("name", object.id());
        all.put("type", object.value().type());
        all.put("status", "stopped");
        all.put(METRICS, metrics);
        return all;
    }

    @Override
    protected boolean operate(String name, Operation operation) {
        Sources sources = view.sourcesHere();
        return sources != null && sources.operate(name, operation);
    }

    @Override
    protected void requireOperable(String name) {
        LiveObject<LiveSource> object = objects.kind().get(name);
        if (object != null && !object.value().isEnabled()) {
            throw Problem.badRequest("the source is disabled; enable it").exception();
        }
    }

    @Override
    protected Map<String, Object> identity(String name, Map<String, Object> onNode) {
        LiveObject<LiveSource> object = objects.kind().get(name);
        Map<String, Object> identity = new LinkedHashMap<>();
        identity.put(ID, name);
        identity.put("name", name);
        identity.put("type", String.valueOf(onNode.get("type")));
        identity.put("enable", object == null || object.value().isEnabled());
        identity.put("source", object == null ? "file" : "api");
        if (object != null) {
            identity.put("settings", object.value().shown(mask()));
        }
        return identity;
    }

    @Override
    protected Problem missing() {
        return new Problem(404, MISSING, "Source not found");
    }

    private Mono<ApiAnswer> probe(ApiRequest request) {
        return sources()
                .probe(request.path(ID))
                .switchIfEmpty(Mono.error(() -> missing().exception()))
                .map(reason -> ApiAnswer.json(
                        reason.isEmpty()
                                ? Map.of("status", "connected")
                                : Map.of("status", "disconnected", "status_reason", reason)));
    }

    // --- changes

    private Sources sources() {
        Sources sources = view.sourcesHere();
        if (sources == null) {
            throw new Problem(404, MISSING, "this broker has no sources").exception();
        }
        return sources;
    }

    /** The declarations of all types that are present here. */
    private ActionMask mask() {
        Sources sources = view.sourcesHere();
        return sources == null ? ActionMask.BY_NAME : ActionMask.of(sources.types());
    }

    private Mono<ApiAnswer> add(ApiRequest request) {
        return change(request, request.fields().text(ID), Expected.NOTHING, 201);
    }

    private Mono<ApiAnswer> replace(ApiRequest request) {
        return change(request, request.path(ID), Expected.SOMETHING, 200);
    }

    private Mono<ApiAnswer> change(ApiRequest request, String id, Expected expected, int status) {
        LiveObject<LiveSource> former = objects.kind().get(id);
        LiveSource source = LiveSource.of(request.fields()).keeping(former == null ? null : former.value(), mask());
        return put(
                request,
                id,
                source,
                expected,
                made -> ApiAnswer.json(status, Map.of(ID, made.id(), "version", made.version())));
    }

    /** Switches a source of an operator on or off, on all nodes and for good. */
    private Mono<ApiAnswer> enable(ApiRequest request, boolean on) {
        String id = request.path(ID);
        LiveObject<LiveSource> object = objects.kind().get(id);
        if (object == null) {
            throw (sources().status().stream().anyMatch(source -> source.name().equals(id))
                            ? Problem.badRequest("sources." + id + " is in the configuration, and cannot be changed")
                            : missing())
                    .exception();
        }
        Expected version = Expected.version(object.version());
        return put(request, id, object.value().enabled(on), version, made -> ApiAnswer.noContent());
    }

    private Mono<ApiAnswer> put(
            ApiRequest request,
            String id,
            LiveSource source,
            Expected expected,
            Function<LiveObject<LiveSource>, ApiAnswer> answer) {
        return ObjectProblems.answered(
                sources()
                        .check(id, source.keys())
                        .doOnNext(problems -> {
                            if (!problems.isEmpty()) {
                                throw Problem.badRequest(String.join("; ", problems))
                                        .exception();
                            }
                        })
                        .then(Mono.defer(() -> objects.kind().put(id, source, expected, Origins.of(request))))
                        .map(answer),
                MISSING);
    }

    private Mono<ApiAnswer> remove(ApiRequest request) {
        return ObjectProblems.answered(
                objects.kind()
                        .delete(request.path(ID), Expected.SOMETHING, Origins.of(request))
                        .thenReturn(ApiAnswer.noContent()),
                MISSING);
    }
}
