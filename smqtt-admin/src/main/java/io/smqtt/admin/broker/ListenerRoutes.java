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
import io.smqtt.config.ListenerConfig;
import io.smqtt.thread.AnyThread;
import io.smqtt.transport.BindFailedException;
import io.smqtt.transport.ListenerStatus;
import io.smqtt.transport.Listeners;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import reactor.core.publisher.Mono;

/** {@code /listeners}: the listeners of all nodes, by identifiers such as {@code tcp:main}. */
@AnyThread
public final class ListenerRoutes implements RouteGroup {

    private static final String LIST = "listeners.list";
    private static final String CHANGE = "listener.change";

    private final BrokerView view;
    private final NodeCalls calls;

    /**
     * Creates the routes.
     *
     * @param view the broker
     * @param calls reaches the other nodes
     */
    public ListenerRoutes(BrokerView view, NodeCalls calls) {
        this.view = view;
        this.calls = calls;
        calls.register(LIST, question -> Mono.fromCallable(() -> Map.of("rows", listHere())));
        calls.register(CHANGE, this::changeHere);
    }

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get("/listeners", Role.VIEWER, this::list),
                Route.get("/listeners/{id}", Role.VIEWER, this::get),
                Route.post("/listeners/{id}/start", Role.ADMINISTRATOR, request -> change(request, "start")),
                Route.post("/listeners/{id}/stop", Role.ADMINISTRATOR, request -> change(request, "stop")),
                Route.post("/listeners/{id}/restart", Role.ADMINISTRATOR, request -> change(request, "restart")));
    }

    private static String type(ListenerConfig config) {
        boolean tls = config.tls() != null;
        return switch (config.type()) {
            case TCP -> tls ? "ssl" : "tcp";
            case WS -> tls ? "wss" : "ws";
        };
    }

    private static String id(ListenerStatus listener) {
        return type(listener.config()) + ":" + listener.name();
    }

    private List<Map<String, Object>> listHere() {
        return view.listeners().status().stream().map(ListenerRoutes::fields).toList();
    }

    private static Map<String, Object> fields(ListenerStatus listener) {
        Map<String, Object> status = new LinkedHashMap<>();
        status.put("running", listener.running());
        status.put("current_connections", listener.connections());
        status.put("max_connections", listener.config().maxConnections());
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("id", id(listener));
        all.put("type", type(listener.config()));
        all.put("name", listener.name());
        all.put("enable", true);
        all.put("bind", listener.config().host() + ":" + listener.port());
        all.put("status", status);
        return all;
    }

    /** The listeners of all nodes: those with the same identifier are one, with the state of each node. */
    private Mono<List<Map<String, Object>>> merged() {
        return calls.askAll(LIST, Map.of()).map(answers -> {
            Map<String, Map<String, Object>> byId = new TreeMap<>();
            answers.byNode().forEach((node, found) -> {
                for (Object row : found.get("rows") instanceof List<?> rows ? rows : List.of()) {
                    if (row instanceof Map<?, ?> listener) {
                        merge(byId, node, listener);
                    }
                }
            });
            return new ArrayList<>(byId.values());
        });
    }

    private static void merge(Map<String, Map<String, Object>> byId, String node, Map<?, ?> listener) {
        Map<String, Object> all = byId.computeIfAbsent(String.valueOf(listener.get("id")), id -> {
            Map<String, Object> first = new LinkedHashMap<>();
            listener.forEach((name, value) -> first.put(String.valueOf(name), value));
            first.put("node_status", new ArrayList<>());
            return first;
        });
        Map<String, Object> own = new LinkedHashMap<>();
        own.put("node", node);
        own.put("status", listener.get("status"));
        if (all.get("node_status") instanceof List<?> states) {
            List<Object> more = new ArrayList<>(states);
            more.add(own);
            all.put("node_status", more);
            all.put("number", more.size());
        }
    }

    private Mono<ApiAnswer> list(ApiRequest request) {
        String type = request.query("type");
        return merged().map(all -> ApiAnswer.json(all.stream()
                .filter(one -> type == null || type.equals(one.get("type")))
                .toList()));
    }

    private static Problem missing() {
        return new Problem(404, "BAD_LISTENER_ID", "Listener id not found");
    }

    private Mono<ApiAnswer> get(ApiRequest request) {
        String id = request.path("id");
        return merged().map(all -> all.stream()
                .filter(one -> id.equals(one.get("id")))
                .findFirst()
                .map(ApiAnswer::json)
                .orElseThrow(() -> missing().exception()));
    }

    private Mono<ApiAnswer> change(ApiRequest request, String action) {
        return calls.askAll(CHANGE, Map.of("id", request.path("id"), "action", action))
                .map(answers -> {
                    if (answers.byNode().isEmpty()) {
                        throw missing().exception();
                    }
                    if (!answers.incomplete().isEmpty()) {
                        throw Problem.unavailable("these nodes did not answer: " + answers.incomplete())
                                .exception();
                    }
                    return ApiAnswer.json(
                            Map.of("nodes", List.copyOf(answers.byNode().keySet())));
                });
    }

    private Mono<Map<String, Object>> changeHere(JsonFields question) {
        Listeners listeners = view.listeners();
        String id = question.text("id");
        String action = question.text("action");
        return listeners.status().stream()
                .filter(one -> id(one).equals(id))
                .findFirst()
                .map(found -> change(listeners, found.name(), action)
                        .thenReturn(Map.<String, Object>of("done", action))
                        .onErrorMap(
                                BindFailedException.class,
                                error -> new Problem(400, "BAD_REQUEST", String.valueOf(error.getMessage()))
                                        .exception()))
                .orElse(Mono.empty());
    }

    private static Mono<Void> change(Listeners listeners, String name, String action) {
        return switch (action) {
            case "start" -> listeners.start(name);
            case "stop" -> listeners.stop(name);
            case "restart" -> listeners.stop(name).then(listeners.start(name));
            default -> throw Problem.badRequest("there is no such action").exception();
        };
    }
}
