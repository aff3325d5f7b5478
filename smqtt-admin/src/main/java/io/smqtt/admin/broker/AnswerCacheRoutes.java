// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** {@code /authentication/cache}: the answers of access backends that the nodes use again. */
@AnyThread
public final class AnswerCacheRoutes implements RouteGroup {

    private static final String CLEAR = "access.clear";
    private static final String CLEARED = "cleared";

    private final NodeCalls calls;

    /**
     * Creates the route.
     *
     * @param view the broker
     * @param calls reaches the other nodes
     */
    public AnswerCacheRoutes(BrokerView view, NodeCalls calls) {
        this.calls = calls;
        calls.register(
                CLEAR,
                question -> Mono.fromCallable(
                                () -> Map.of(CLEARED, view.broker().clearAccessCache()))
                        .subscribeOn(Schedulers.boundedElastic())); // there can be millions of answers
    }

    @Override
    public List<Route> routes() {
        return List.of(Route.delete("/authentication/cache", Role.ADMINISTRATOR, this::clear));
    }

    private Mono<ApiAnswer> clear(ApiRequest request) {
        String node = request.query("node");
        return node == null
                ? calls.askAll(CLEAR, Map.of()).map(answers -> answer(answers.byNode(), answers.incomplete()))
                : calls.askOne(node, CLEAR, Map.of()).map(found -> answer(Map.of(node, found), List.of()));
    }

    private static ApiAnswer answer(Map<String, ? extends Map<String, ?>> byNode, List<String> incomplete) {
        List<Map<String, Object>> rows = new ArrayList<>();
        byNode.forEach((node, found) -> {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("node", node);
            row.put(CLEARED, found.get(CLEARED) instanceof Number count ? count.longValue() : 0);
            rows.add(row);
        });
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("data", rows);
        if (!incomplete.isEmpty()) {
            fields.put("incomplete", incomplete);
        }
        return ApiAnswer.json(fields);
    }
}
