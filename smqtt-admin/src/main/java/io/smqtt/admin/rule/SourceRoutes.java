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
import io.smqtt.spi.SourceStatus;
import io.smqtt.spi.Sources;
import io.smqtt.spi.Sources.Operation;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import reactor.core.publisher.Mono;

/** {@code /sources}: the sources of the configuration, with states and counts of all nodes, and what operators do with them. */
@AnyThread
public final class SourceRoutes extends NodeObjectRoutes<Operation> {

    private final BrokerView view;

    /**
     * Creates the routes.
     *
     * @param view the broker
     * @param calls reaches the other nodes
     */
    public SourceRoutes(BrokerView view, NodeCalls calls) {
        super(
                calls,
                "source",
                Operation.class,
                List.of("received", "published", "refused", "failed", "inflight", "rejected"));
        this.view = view;
    }

    @Override
    public List<Route> routes() {
        List<Route> routes = new ArrayList<>(super.routes());
        routes.add(Route.post("/sources/{id}/probe", Role.OPERATOR, this::probe));
        return routes;
    }

    @Override
    protected List<Map<String, Object>> here() {
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

    @Override
    protected boolean operate(String name, Operation operation) {
        Sources sources = view.sourcesHere();
        return sources != null && sources.operate(name, operation);
    }

    @Override
    protected Map<String, Object> identity(String name, Map<String, Object> onNode) {
        Map<String, Object> identity = new LinkedHashMap<>();
        identity.put("id", name);
        identity.put("name", name);
        identity.put("type", String.valueOf(onNode.get("type")));
        return identity;
    }

    @Override
    protected Problem missing() {
        return new Problem(404, "NOT_FOUND", "Source not found");
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
}
