// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.rule;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.admin.broker.NodeCalls;
import io.smqtt.spi.SourceStatus;
import io.smqtt.spi.Sources;
import io.smqtt.spi.Sources.Operation;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** {@code /sources}: the sources of the configuration, with states and counts of all nodes, and what operators do with them. */
@AnyThread
public final class SourceRoutes implements RouteGroup {

    private static final String LIST = "sources.list";
    private static final String OPERATE = "source.operate";
    private static final String METRICS = "metrics";
    private static final String STANDBY = "standby";
    private static final List<String> COUNTS =
            List.of("received", "published", "refused", "failed", "inflight", "rejected");

    private final BrokerView view;
    private final NodeCalls calls;

    /**
     * Creates the routes.
     *
     * @param view the broker
     * @param calls reaches the other nodes
     */
    public SourceRoutes(BrokerView view, NodeCalls calls) {
        this.view = view;
        this.calls = calls;
        calls.register(LIST, question -> Mono.fromCallable(() -> Map.of("rows", listHere())));
        calls.register(OPERATE, this::operateHere);
    }

    @Override
    public List<Route> routes() {
        List<Route> routes = new ArrayList<>();
        routes.add(Route.get("/sources", Role.VIEWER, this::list));
        routes.add(Route.get("/sources/{id}", Role.VIEWER, this::show));
        routes.add(Route.post("/sources/{id}/probe", Role.OPERATOR, this::probe));
        for (Operation operation : Operation.values()) {
            String name = operation.name().toLowerCase(Locale.ROOT);
            routes.add(
                    Route.post("/sources/{id}/" + name, Role.ADMINISTRATOR, request -> everywhere(request, operation)));
            routes.add(Route.post(
                    "/nodes/{node}/sources/{id}/" + name, Role.ADMINISTRATOR, request -> onNode(request, operation)));
        }
        return routes;
    }

    private List<Map<String, Object>> listHere() {
        Sources sources = view.sourcesHere();
        return sources == null
                ? List.of()
                : sources.status().stream().map(SourceRoutes::fields).toList();
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
        all.put(METRICS, metrics);
        return all;
    }

    private Mono<Map<String, Object>> operateHere(JsonFields question) {
        Sources sources = view.sourcesHere();
        Operation operation;
        try {
            operation = Operation.valueOf(question.text("operation"));
        } catch (IllegalArgumentException e) { // of a later version
            throw Problem.badRequest("there is no such operation").exception();
        }
        return sources != null && sources.operate(question.text("name"), operation)
                ? Mono.just(Map.of("done", true))
                : Mono.empty();
    }

    private Mono<ApiAnswer> probe(ApiRequest request) {
        Sources sources = view.sourcesHere();
        if (sources == null) {
            throw missing().exception();
        }
        return sources.probe(request.path("id"))
                .switchIfEmpty(Mono.error(() -> missing().exception()))
                .map(reason -> ApiAnswer.json(
                        reason.isEmpty()
                                ? Map.of("status", "connected")
                                : Map.of("status", "disconnected", "status_reason", reason)));
    }

    private static Problem missing() {
        return new Problem(404, "NOT_FOUND", "Source not found");
    }

    // --- over all nodes

    /** The sources of all nodes: those with the same name are one, with the state of each node. */
    private static Map<String, Map<String, Object>> merged(NodeCalls.Answers answers) {
        Map<String, List<Map<String, Object>>> byName = new TreeMap<>();
        answers.byNode().forEach((node, found) -> {
            for (Object row : found.get("rows") instanceof List<?> rows ? rows : List.of()) {
                if (row instanceof Map<?, ?> source) {
                    Map<String, Object> own = new LinkedHashMap<>();
                    own.put("node", node);
                    source.forEach((field, value) -> own.put(String.valueOf(field), value));
                    byName.computeIfAbsent(String.valueOf(own.remove("name")), name -> new ArrayList<>())
                            .add(own);
                }
            }
        });
        Map<String, Map<String, Object>> all = new TreeMap<>();
        byName.forEach((name, nodes) -> all.put(name, together(name, nodes)));
        return all;
    }

    private static Map<String, Object> together(String name, List<Map<String, Object>> nodes) {
        TreeSet<String> states = new TreeSet<>();
        Map<String, Long> sums = new LinkedHashMap<>();
        COUNTS.forEach(count -> sums.put(count, 0L));
        for (Map<String, Object> node : nodes) {
            states.add(String.valueOf(node.get("status")));
            if (node.get(METRICS) instanceof Map<?, ?> metrics) {
                sums.replaceAll((count, sum) -> sum + number(metrics.get(count)));
            }
        }
        if (states.size() > 1 && !states.contains("stopped")) {
            states.remove(STANDBY); // another node has it
        }
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("id", name);
        all.put("name", name);
        all.put("type", String.valueOf(nodes.get(0).get("type")));
        all.put("status", states.size() == 1 ? states.first() : "inconsistent");
        all.put(METRICS, sums);
        all.put("node_status", nodes);
        return all;
    }

    private static long number(@Nullable Object value) {
        return value instanceof Number number ? number.longValue() : 0;
    }

    private Mono<ApiAnswer> list(ApiRequest request) {
        return calls.askAll(LIST, Map.of()).map(answers -> {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("data", List.copyOf(merged(answers).values()));
            if (!answers.incomplete().isEmpty()) {
                fields.put("incomplete", answers.incomplete());
            }
            return ApiAnswer.json(fields);
        });
    }

    private Mono<ApiAnswer> show(ApiRequest request) {
        return calls.askAll(LIST, Map.of()).map(answers -> {
            Map<String, Object> found = merged(answers).get(request.path("id"));
            if (found == null) {
                throw (answers.incomplete().isEmpty()
                                ? missing()
                                : Problem.unavailable(
                                        "not found, and these nodes did not answer: " + answers.incomplete()))
                        .exception();
            }
            if (!answers.incomplete().isEmpty()) {
                found.put("incomplete", answers.incomplete());
            }
            return ApiAnswer.json(found);
        });
    }

    private static Map<String, Object> question(ApiRequest request, Operation operation) {
        return Map.of("name", request.path("id"), "operation", operation.name());
    }

    private Mono<ApiAnswer> everywhere(ApiRequest request, Operation operation) {
        return calls.askAll(OPERATE, question(request, operation)).map(SourceRoutes::done);
    }

    private Mono<ApiAnswer> onNode(ApiRequest request, Operation operation) {
        String node = request.path("node");
        if (!calls.nodes().contains(node)) {
            throw new Problem(404, "NODE_NOT_FOUND", "there is no such node").exception();
        }
        return calls.ask(Map.of(node, question(request, operation)), OPERATE, NodeCalls.DEADLINE)
                .map(SourceRoutes::done);
    }

    private static ApiAnswer done(NodeCalls.Answers answers) {
        if (!answers.incomplete().isEmpty()) {
            throw Problem.unavailable("these nodes did not answer: " + answers.incomplete())
                    .exception();
        }
        if (answers.byNode().isEmpty()) {
            throw missing().exception();
        }
        return ApiAnswer.noContent();
    }
}
