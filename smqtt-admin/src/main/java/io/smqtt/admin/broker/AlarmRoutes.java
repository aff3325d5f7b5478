// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.spi.Alarm;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import reactor.core.publisher.Mono;

/** {@code /alarms}: the alarms of all nodes, those that last or those that have ended. */
@AnyThread
public final class AlarmRoutes implements RouteGroup {

    private static final String ALARMS = "node.alarms";
    private static final int DEFAULT_LIMIT = 100;
    private static final int MOST_PAGES = 1_000_000;

    private final BrokerView view;
    private final NodeCalls calls;

    /**
     * Creates the routes.
     *
     * @param view the broker
     * @param calls reaches the other nodes
     */
    public AlarmRoutes(BrokerView view, NodeCalls calls) {
        this.view = view;
        this.calls = calls;
        calls.register(ALARMS, question -> Mono.fromCallable(() -> Map.of("alarms", alarms(Instant.now()))));
    }

    @Override
    public List<Route> routes() {
        return List.of(Route.get("/alarms", Role.VIEWER, this::list));
    }

    private List<Map<String, Object>> alarms(Instant now) {
        return view.alarms().stream().map(alarm -> fields(alarm, now)).toList();
    }

    private Map<String, Object> fields(Alarm alarm, Instant now) {
        Instant until = alarm.until();
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("node", view.nodeName());
        fields.put("name", alarm.name());
        fields.put("severity", alarm.severity().name().toLowerCase(Locale.ROOT));
        fields.put("message", alarm.message());
        fields.put("activate_at", alarm.since().toString());
        if (until != null) {
            fields.put("deactivate_at", until.toString());
        }
        long millis =
                Duration.between(alarm.since(), until == null ? now : until).toMillis();
        fields.put("duration", Math.max(0, millis)); // the clock may have been set
        return fields;
    }

    /**
     * Reads the alarms of all nodes that last.
     *
     * @return the answer to {@code GET /alarms}
     */
    public Mono<Map<String, Object>> active() {
        return list(true, 1, DEFAULT_LIMIT);
    }

    private Mono<ApiAnswer> list(ApiRequest request) {
        boolean active = !Boolean.FALSE.equals(request.flag("activated"));
        int page = (int) request.number("page", 1, 1, MOST_PAGES);
        int limit = (int) request.number("limit", DEFAULT_LIMIT, 1, BrokerView.MAX_ENTRIES);
        return list(active, page, limit).map(ApiAnswer::json);
    }

    private Mono<Map<String, Object>> list(boolean active, int page, int limit) {
        return calls.askAll(ALARMS, Map.of()).map(answers -> {
            List<Map<?, ?>> all = new ArrayList<>();
            answers.byNode().values().forEach(answer -> {
                if (answer.get("alarms") instanceof List<?> alarms) {
                    for (Object alarm : alarms) {
                        if (alarm instanceof Map<?, ?> one && active != one.containsKey("deactivate_at")) {
                            all.add(one);
                        }
                    }
                }
            });
            all.sort(Comparator.comparing((Map<?, ?> one) -> String.valueOf(one.get("activate_at")))
                    .reversed());
            long skipped = (long) (page - 1) * limit;
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("data", all.stream().skip(skipped).limit(limit).toList());
            fields.put(
                    "meta",
                    Map.of("page", page, "limit", limit, "count", all.size(), "hasnext", all.size() > skipped + limit));
            if (!answers.incomplete().isEmpty()) {
                fields.put("incomplete", answers.incomplete());
            }
            return fields;
        });
    }
}
