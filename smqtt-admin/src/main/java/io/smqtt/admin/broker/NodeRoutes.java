// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.Fields;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** {@code /nodes}, {@code /stats}, {@code /metrics}, {@code /cluster} and {@code /prometheus/stats}. */
@AnyThread
public final class NodeRoutes implements RouteGroup {

    private static final String NODE = "node.get";
    private static final String STATS = "node.stats";
    private static final String METRICS = "node.metrics";
    private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

    private final BrokerView view;
    private final NodeCalls calls;
    private final NodeFigures figures;

    /**
     * Creates the routes.
     *
     * @param view the broker
     * @param calls reaches the other nodes
     */
    public NodeRoutes(BrokerView view, NodeCalls calls) {
        this.view = view;
        this.calls = calls;
        figures = new NodeFigures(view);
        calls.register(NODE, question -> Mono.fromCallable(figures::node));
        calls.register(STATS, question -> Mono.fromCallable(figures::stats));
        calls.register(METRICS, question -> Mono.fromCallable(figures::metrics));
    }

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get("/nodes", Role.VIEWER, this::nodes),
                Route.get("/nodes/{node}", Role.VIEWER, request -> one(request, NODE)),
                Route.get("/nodes/{node}/stats", Role.VIEWER, request -> one(request, STATS)),
                Route.get("/nodes/{node}/metrics", Role.VIEWER, request -> one(request, METRICS)),
                Route.get("/stats", Role.VIEWER, request -> all(request, STATS)),
                Route.get("/metrics", Role.VIEWER, request -> all(request, METRICS)),
                Route.get("/cluster", Role.VIEWER, this::cluster),
                Route.get("/prometheus/stats", Role.VIEWER, this::prometheus));
    }

    /**
     * Reads the state of all nodes.
     *
     * @return the list of {@code GET /nodes}
     */
    public Mono<List<Map<String, ?>>> list() {
        return calls.askAll(NODE, Map.of()).map(answers -> {
            List<Map<String, ?>> rows = new ArrayList<>(answers.byNode().values());
            answers.incomplete().forEach(node -> rows.add(Map.of("node", node, "node_status", "stopped")));
            return rows;
        });
    }

    private Mono<ApiAnswer> nodes(ApiRequest request) {
        return list().map(ApiAnswer::json);
    }

    private Mono<ApiAnswer> one(ApiRequest request, String call) {
        return calls.askOne(request.path("node"), call, Map.of()).map(ApiAnswer::json);
    }

    private Mono<ApiAnswer> all(ApiRequest request, String call) {
        boolean sum = Boolean.TRUE.equals(request.flag("aggregate"));
        return calls.askAll(call, Map.of()).map(answers -> {
            if (!sum) {
                List<Map<String, Object>> rows = new ArrayList<>();
                answers.byNode().forEach((node, found) -> {
                    Map<String, Object> row = new LinkedHashMap<>();
                    row.put("node", node);
                    row.putAll(found);
                    rows.add(row);
                });
                return ApiAnswer.json(rows);
            }
            Map<String, Object> total = new LinkedHashMap<>();
            answers.byNode()
                    .values()
                    .forEach(found -> found.forEach((name, value) -> {
                        if (value instanceof Number number) {
                            total.merge(name, number.longValue(), (before, more) -> (Long) before + (Long) more);
                        }
                    }));
            if (!answers.incomplete().isEmpty()) {
                total.put("incomplete", answers.incomplete());
            }
            return ApiAnswer.json(total);
        });
    }

    private Mono<ApiAnswer> cluster(ApiRequest request) {
        ClusterStatus status = view.clusterStatus();
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("name", "smqtt");
        fields.put("self", view.nodeName());
        fields.put("nodes", calls.nodes());
        fields.put("status", status == null ? null : Fields.of(status));
        fields.put("replicas", view.replicasHere().stream().map(Fields::of).toList());
        fields.put("places", view.places());
        return Mono.just(ApiAnswer.json(fields));
    }

    private Mono<ApiAnswer> prometheus(ApiRequest request) {
        String lines = view.scrape();
        if (lines == null) {
            throw Problem.notFound("this broker keeps no metrics").exception();
        }
        return Mono.just(ApiAnswer.text(200, PROMETHEUS, lines));
    }
}
