// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.monitor;

import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.admin.broker.NodeCalls;
import io.smqtt.spi.BrokerFigures;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/** {@code /monitor}, {@code /monitor_current} and {@code /stream}: the figures of all nodes over time. */
public final class MonitorRoutes implements RouteGroup {

    private static final String CURRENT = "monitor.current";
    private static final String HISTORY = "monitor.history";
    private static final String LIVE = "monitor.live";
    private static final String SECONDS = "latest";
    private static final String ROWS = "rows";
    private static final long INTERVAL_MILLIS = 1_000;

    /** Before the next figures are due. */
    private static final Duration LIVE_DEADLINE = Duration.ofMillis(900);

    private static final long LONGEST_SECONDS = 7 * 24 * 3_600;

    private final Monitor monitor;
    private final NodeCalls calls;
    private final LiveEvents events;

    /**
     * Creates the routes.
     *
     * @param monitor reads the figures
     * @param calls reaches the other nodes
     * @param lists by topic what reads a list for the stream, as maps and lists
     */
    public MonitorRoutes(Monitor monitor, NodeCalls calls, Map<String, Supplier<? extends Mono<?>>> lists) {
        this.monitor = monitor;
        this.calls = calls;
        calls.register(
                CURRENT,
                question -> Mono.fromCallable(() -> Sums.whole(monitor.current().fields())));
        calls.register(HISTORY, this::historyHere);
        LiveFigures live = new LiveFigures(monitor);
        calls.register(LIVE, question -> Mono.fromCallable(live::fields));
        Map<String, BiConsumer<Monitor.Pair, FigureSink>> topics = new LinkedHashMap<>();
        topics.put("monitor", Monitor.Pair::putTo);
        topics.put("clients", MonitorRoutes::changes);
        Map<String, LiveLists.Source> sources = new LinkedHashMap<>();
        lists.forEach((name, list) -> sources.put(name, new LiveLists.Source(LiveLists.TICKS, list)));
        sources.put("cluster", new LiveLists.Source(1, this::live));
        events = new LiveEvents(monitor, topics, new LiveLists(sources), INTERVAL_MILLIS);
    }

    /** The figures of all nodes, and their sums. */
    private Mono<Map<String, Object>> live() {
        return calls.askAll(LIVE, Map.of(), LIVE_DEADLINE)
                .map(answers -> Map.of(
                        "sum",
                        Sums.of(answers.byNode().values()),
                        "nodes",
                        answers.byNode(),
                        "incomplete",
                        answers.incomplete()));
    }

    /** How many clients have come and gone. */
    private static void changes(Monitor.Pair figures, FigureSink all) {
        long come = figures.now().risen(figures.before(), BrokerFigures::accepted);
        long more =
                figures.now().figures().online() - figures.before().figures().online();
        all.put("connected", come);
        all.put("disconnected", Math.max(0, come - more));
    }

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get("/monitor", Role.VIEWER, this::history),
                Route.get("/monitor/nodes/{node}", Role.VIEWER, this::historyOfNode),
                Route.get("/monitor_current", Role.VIEWER, this::current),
                Route.get("/monitor_current/nodes/{node}", Role.VIEWER, this::currentOfNode),
                Route.get("/stream", Role.VIEWER, this::stream));
    }

    private static Map<String, ?> wanted(ApiRequest request) {
        return Map.of(SECONDS, request.number(SECONDS, LONGEST_SECONDS, 1, LONGEST_SECONDS));
    }

    private Mono<Map<String, Object>> historyHere(JsonFields question) {
        long seconds = question.number(SECONDS, 1, LONGEST_SECONDS);
        return Mono.fromCallable(() -> Map.of(ROWS, monitor.latest(seconds)));
    }

    private static List<?> rows(Map<String, ?> answer) {
        return answer.get(ROWS) instanceof List<?> rows ? rows : List.of();
    }

    /** An array, as EMQX's; a header names the nodes that did not answer. */
    private Mono<ApiAnswer> history(ApiRequest request) {
        return calls.askAll(HISTORY, wanted(request)).map(answers -> {
            List<List<?>> all = new ArrayList<>();
            answers.byNode().values().forEach(answer -> all.add(rows(answer)));
            ApiAnswer.Content answer = ApiAnswer.json(all.size() == 1 ? all.get(0) : Sums.ofHistories(all));
            return answers.incomplete().isEmpty()
                    ? answer
                    : answer.with("X-Incomplete", String.join(",", answers.incomplete()));
        });
    }

    private Mono<ApiAnswer> historyOfNode(ApiRequest request) {
        return calls.askOne(request.path("node"), HISTORY, wanted(request)).map(answer -> ApiAnswer.json(rows(answer)));
    }

    private Mono<ApiAnswer> current(ApiRequest request) {
        return calls.askAll(CURRENT, Map.of()).map(answers -> {
            Map<String, Object> sum = Sums.of(answers.byNode().values());
            if (!answers.incomplete().isEmpty()) {
                sum.put("incomplete", answers.incomplete());
            }
            return ApiAnswer.json(sum);
        });
    }

    private Mono<ApiAnswer> currentOfNode(ApiRequest request) {
        return calls.askOne(request.path("node"), CURRENT, Map.of()).map(ApiAnswer::json);
    }

    private Mono<ApiAnswer> stream(ApiRequest request) {
        Set<String> wanted = new LinkedHashSet<>();
        String topics = request.query("topics");
        for (String name : (topics == null ? "" : topics).split(",", -1)) {
            if (!events.topics().contains(name)) {
                throw Problem.badRequest("the parameter topics must list some of " + String.join(", ", events.topics()))
                        .exception();
            }
            wanted.add(name);
        }
        if (!events.hasRoom()) {
            throw Problem.unavailable("there are " + LiveEvents.MAX_READERS + " streams already")
                    .exception();
        }
        return Mono.just(ApiAnswer.stream("text/event-stream", events.of(wanted)));
    }
}
