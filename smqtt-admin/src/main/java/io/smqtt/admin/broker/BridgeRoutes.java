// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.spi.Bridges;
import io.smqtt.spi.Bridges.Operation;
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

/** {@code /bridges}: the bridges of all nodes, by identifiers such as {@code mqtt:cloud}. */
@AnyThread
public final class BridgeRoutes implements RouteGroup {

    private static final String LIST = "bridges.list";
    private static final String OPERATE = "bridge.operate";
    private static final String TYPE = "mqtt:";
    private static final List<String> COUNTS = List.of("sent", "received", "resent", "queuing", "dropped", "refused");

    private final BrokerView view;
    private final NodeCalls calls;

    /**
     * Creates the routes.
     *
     * @param view the broker
     * @param calls reaches the other nodes
     */
    public BridgeRoutes(BrokerView view, NodeCalls calls) {
        this.view = view;
        this.calls = calls;
        calls.register(LIST, question -> Mono.fromCallable(() -> Map.of("rows", listHere())));
        calls.register(OPERATE, this::operateHere);
    }

    @Override
    public List<Route> routes() {
        List<Route> routes = new ArrayList<>();
        routes.add(Route.get("/bridges", Role.VIEWER, this::list));
        routes.add(Route.get("/bridges/{id}", Role.VIEWER, this::get));
        for (Operation operation : Operation.values()) {
            String name = operation.name().toLowerCase(Locale.ROOT);
            routes.add(
                    Route.post("/bridges/{id}/" + name, Role.ADMINISTRATOR, request -> everywhere(request, operation)));
            routes.add(Route.post(
                    "/nodes/{node}/bridges/{id}/" + name, Role.ADMINISTRATOR, request -> onNode(request, operation)));
        }
        return routes;
    }

    // --- on one node

    private List<Map<String, Object>> listHere() {
        Bridges bridges = view.bridgesHere();
        return bridges == null
                ? List.of()
                : bridges.status().stream().map(BridgeRoutes::fields).toList();
    }

    private static Map<String, Object> fields(BridgeStatus bridge) {
        Map<String, Object> metrics = new LinkedHashMap<>();
        metrics.put("sent", bridge.sent());
        metrics.put("received", bridge.received());
        metrics.put("resent", bridge.resent());
        metrics.put("queuing", bridge.queued());
        metrics.put("dropped", bridge.dropped());
        metrics.put("refused", bridge.refused());
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("name", bridge.name());
        all.put("status", bridge.state().name().toLowerCase(Locale.ROOT));
        all.put("server", bridge.address());
        all.put("since", bridge.since().toString());
        if (bridge.lastError() != null) {
            all.put("status_reason", bridge.lastError());
        }
        if (bridge.rttNanos() > 0) {
            all.put("rtt_ms", Math.rint(bridge.rttNanos() / 1e3) / 1e3);
        }
        all.put("metrics", metrics);
        return all;
    }

    private Mono<Map<String, Object>> operateHere(JsonFields question) {
        Bridges bridges = view.bridgesHere();
        Operation operation;
        try {
            operation = Operation.valueOf(question.text("operation"));
        } catch (IllegalArgumentException e) { // of a later version
            throw Problem.badRequest("there is no such operation").exception();
        }
        return bridges != null && bridges.operate(question.text("name"), operation)
                ? Mono.just(Map.of("done", true))
                : Mono.empty();
    }

    // --- over all nodes

    /** The bridges of all nodes: those with the same name are one, with the state of each node. */
    private static Map<String, Map<String, Object>> merged(NodeCalls.Answers answers) {
        Map<String, List<Map<String, Object>>> byName = new TreeMap<>();
        answers.byNode().forEach((node, found) -> {
            for (Object row : found.get("rows") instanceof List<?> rows ? rows : List.of()) {
                if (row instanceof Map<?, ?> bridge) {
                    byName.computeIfAbsent(String.valueOf(bridge.get("name")), name -> new ArrayList<>())
                            .add(onNode(node, bridge));
                }
            }
        });
        Map<String, Map<String, Object>> all = new TreeMap<>();
        byName.forEach((name, nodes) -> all.put(name, together(name, nodes)));
        return all;
    }

    private static Map<String, Object> onNode(String node, Map<?, ?> bridge) {
        Map<String, Object> own = new LinkedHashMap<>();
        own.put("node", node);
        bridge.forEach((field, value) -> own.put(String.valueOf(field), value));
        own.remove("name");
        return own;
    }

    private static Map<String, Object> together(String name, List<Map<String, Object>> nodes) {
        TreeSet<String> states = new TreeSet<>();
        Map<String, Object> sums = new LinkedHashMap<>();
        COUNTS.forEach(count -> sums.put(count, 0L));
        for (Map<String, Object> node : nodes) {
            states.add(String.valueOf(node.get("status")));
            if (node.get("metrics") instanceof Map<?, ?> metrics) {
                sums.replaceAll((count, sum) -> number(sum) + number(metrics.get(count)));
            }
        }
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("id", TYPE + name);
        all.put("type", "mqtt");
        all.put("name", name);
        all.put("enable", true);
        if (states.size() > 1 && !states.contains("stopped")) {
            states.remove("standby"); // another node has it
        }
        all.put("status", states.size() == 1 ? states.first() : "inconsistent");
        all.put("metrics", sums);
        all.put("node_status", nodes);
        return all;
    }

    private static long number(@Nullable Object value) {
        return value instanceof Number number ? number.longValue() : 0;
    }

    private static String name(ApiRequest request) {
        String id = request.path("id");
        return id.startsWith(TYPE) ? id.substring(TYPE.length()) : id;
    }

    private static Problem missing() {
        return new Problem(404, "NOT_FOUND", "Bridge id not found");
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

    private Mono<ApiAnswer> get(ApiRequest request) {
        return calls.askAll(LIST, Map.of()).map(answers -> {
            Map<String, Object> found = merged(answers).get(name(request));
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
        return Map.of("name", name(request), "operation", operation.name());
    }

    private Mono<ApiAnswer> everywhere(ApiRequest request, Operation operation) {
        return calls.askAll(OPERATE, question(request, operation)).map(answers -> {
            if (!answers.incomplete().isEmpty()) {
                throw Problem.unavailable("these nodes did not answer: " + answers.incomplete())
                        .exception();
            }
            if (answers.byNode().isEmpty()) {
                throw missing().exception();
            }
            return ApiAnswer.noContent();
        });
    }

    private Mono<ApiAnswer> onNode(ApiRequest request, Operation operation) {
        String node = request.path("node");
        if (!calls.nodes().contains(node)) {
            throw new Problem(404, "NODE_NOT_FOUND", "there is no such node").exception();
        }
        return calls.ask(Map.of(node, question(request, operation)), OPERATE, NodeCalls.DEADLINE)
                .map(answers -> {
                    if (!answers.incomplete().isEmpty()) {
                        throw Problem.unavailable("the node did not answer").exception();
                    }
                    if (answers.byNode().isEmpty()) {
                        throw missing().exception();
                    }
                    return ApiAnswer.noContent();
                });
    }
}
