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
import io.smqtt.admin.object.Expected;
import io.smqtt.admin.object.LiveObject;
import io.smqtt.admin.security.ObjectProblems;
import io.smqtt.admin.security.Origins;
import io.smqtt.spi.RuleStatus;
import io.smqtt.spi.Rules;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** {@code /rules} and {@code /rule_test}: the rules of the configuration and those of operators, with states and counts of all nodes. */
@AnyThread
public final class RuleRoutes implements RouteGroup {

    private static final String LIST = "rules.list";
    private static final String ID = "id";
    private static final String MISSING = "NOT_FOUND";
    private static final int BODY_BYTES = 64 << 10;
    private static final Duration SETTLED_WITHIN = Duration.ofSeconds(10);
    private static final String METRICS = "metrics";
    private static final String ACTIONS = "actions";
    private static final String SETTINGS = "settings";

    private final BrokerView view;
    private final NodeCalls calls;
    private final RuleObjects objects;

    /**
     * Creates the routes.
     *
     * @param view the broker
     * @param calls reaches the other nodes
     * @param objects the rules of operators
     */
    public RuleRoutes(BrokerView view, NodeCalls calls, RuleObjects objects) {
        this.objects = objects;
        this.view = view;
        this.calls = calls;
        calls.register(LIST, question -> Mono.fromCallable(() -> ActionStates.told(rulesHere())));
    }

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get("/rules", Role.VIEWER, this::list),
                new Route("POST", "/rules", Role.ADMINISTRATOR, BODY_BYTES, this::add),
                Route.get("/rules/{id}", Role.VIEWER, this::show),
                new Route("PUT", "/rules/{id}", Role.ADMINISTRATOR, BODY_BYTES, this::replace),
                Route.delete("/rules/{id}", Role.ADMINISTRATOR, this::remove),
                new Route("POST", "/rules/{id}/start", Role.ADMINISTRATOR, 0, request -> enable(request, true)),
                new Route("POST", "/rules/{id}/stop", Role.ADMINISTRATOR, 0, request -> enable(request, false)),
                new Route("POST", "/rule_test", Role.OPERATOR, BODY_BYTES, this::test),
                Route.get("/rules/{id}/metrics", Role.VIEWER, this::metrics),
                Route.post("/rules/{id}/actions/{action}/probe", Role.OPERATOR, this::probe));
    }

    private List<RuleStatus> rulesHere() {
        Rules rules = view.rulesHere();
        return rules == null ? List.of() : rules.status();
    }

    // --- rules

    private Mono<ApiAnswer> list(ApiRequest request) {
        Map<String, RuleStatus> byName = new TreeMap<>();
        rulesHere().forEach(rule -> byName.put(rule.name(), rule));
        objects.kind().list().forEach(object -> byName.putIfAbsent(object.id(), idle(object)));
        return counted(states -> Map.of(
                "data",
                byName.values().stream().map(rule -> fields(rule, states)).toList()));
    }

    private Mono<ApiAnswer> show(ApiRequest request) {
        RuleStatus rule = find(request);
        return counted(states -> fields(rule, states));
    }

    private Mono<ApiAnswer> metrics(ApiRequest request) {
        RuleStatus rule = find(request);
        return counted(states -> {
            Map<String, Object> all = new LinkedHashMap<>();
            all.put(ID, rule.name());
            all.put(METRICS, ruleMetrics(rule, states));
            return all;
        });
    }

    private interface Body {
        Map<String, Object> of(ActionStates states);
    }

    private Mono<ApiAnswer> counted(Body body) {
        return calls.askAll(LIST, Map.of()).map(answers -> {
            Map<String, Object> fields = new LinkedHashMap<>(body.of(new ActionStates(answers)));
            if (!answers.incomplete().isEmpty()) {
                fields.put("incomplete", answers.incomplete());
            }
            return ApiAnswer.json(fields);
        });
    }

    private RuleStatus find(ApiRequest request) {
        String id = request.path(ID);
        LiveObject<LiveRule> object = objects.kind().get(id);
        return rulesHere().stream()
                .filter(rule -> rule.name().equals(id))
                .findFirst()
                .or(() -> Optional.ofNullable(object).map(RuleRoutes::idle))
                .orElseThrow(() -> missing().exception());
    }

    /** A rule that is switched off, or cannot be used on this node. */
    private static RuleStatus idle(LiveObject<LiveRule> object) {
        Map<String, String> keys = object.value().keys();
        return new RuleStatus(
                object.id(),
                keys.getOrDefault(LiveRule.SQL, ""),
                keys.getOrDefault(LiveRule.DESCRIPTION, ""),
                List.of(),
                List.of());
    }

    private static Problem missing() {
        return new Problem(404, MISSING, "Rule not found");
    }

    private Map<String, Object> fields(RuleStatus rule, ActionStates states) {
        LiveObject<LiveRule> object = objects.kind().get(rule.name());
        ActionMask mask = object == null ? ActionMask.BY_NAME : mask();
        Map<String, String> types = new LinkedHashMap<>(); // of actions by their names
        rule.actions().forEach(action -> types.put(action.name(), action.type()));
        if (object != null && types.isEmpty()) {
            object.value()
                    .actions()
                    .forEach(action -> types.put(action, object.value().type(action)));
        }
        List<Map<String, Object>> actions = new ArrayList<>();
        types.forEach((name, type) -> {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("name", name);
            fields.put("type", type);
            fields.putAll(states.of(rule.name(), name));
            if (object != null) {
                fields.put(SETTINGS, object.value().shown(name, mask));
            }
            actions.add(fields);
        });
        Map<String, Object> all = new LinkedHashMap<>();
        all.put(ID, rule.name());
        all.put("name", rule.name());
        all.put("description", rule.description());
        all.put("sql", rule.sql());
        all.put("from", rule.sources());
        all.put("enable", object == null || object.value().isEnabled());
        all.put("source", object == null ? "file" : "api");
        all.put(ACTIONS, actions);
        all.put(METRICS, ruleMetrics(rule, states));
        return all;
    }

    /** EMQX's counts of a rule. Each action sees the same messages: the statement's counts are those of the one that has seen most. */
    private static Map<String, Long> ruleMetrics(RuleStatus rule, ActionStates states) {
        Map<String, Long> most = Map.of();
        long success = 0;
        long failed = 0;
        for (RuleStatus.Action action : rule.actions()) {
            Map<String, Long> counts = states.sums(rule.name(), action.name());
            most = value(counts, "received") >= value(most, "received") ? counts : most;
            success += value(counts, "success");
            failed += value(counts, "dead");
        }
        long exception = value(most, "exception");
        Map<String, Long> all = new LinkedHashMap<>();
        all.put("matched", value(most, "received"));
        all.put("passed", value(most, "matched") - exception);
        all.put("failed", exception + value(most, "no_result"));
        all.put("failed.exception", exception);
        all.put("failed.no_result", value(most, "no_result"));
        all.put("actions.total", success + failed);
        all.put("actions.success", success);
        all.put("actions.failed", failed);
        return all;
    }

    private static long value(Map<String, Long> counts, String name) {
        return counts.getOrDefault(name, 0L);
    }

    /** The declarations of all types that are present here. */
    private ActionMask mask() {
        Rules rules = view.rulesHere();
        return rules == null ? ActionMask.BY_NAME : ActionMask.of(rules.types());
    }

    // --- changes

    private Rules rules() {
        Rules rules = view.rulesHere();
        if (rules == null) {
            throw new Problem(404, MISSING, "this broker has no rules").exception();
        }
        return rules;
    }

    private Mono<ApiAnswer> add(ApiRequest request) {
        return change(request, request.fields().text(ID), Expected.NOTHING, 201);
    }

    private Mono<ApiAnswer> replace(ApiRequest request) {
        return change(request, request.path(ID), Expected.SOMETHING, 200);
    }

    private Mono<ApiAnswer> change(ApiRequest request, String id, Expected expected, int status) {
        LiveObject<LiveRule> former = objects.kind().get(id);
        LiveRule rule = LiveRule.of(request.fields()).keeping(former == null ? null : former.value(), mask());
        return put(
                request,
                id,
                rule,
                expected,
                made -> ApiAnswer.json(status, Map.of(ID, made.id(), "version", made.version())));
    }

    /** Switches a rule of an operator on or off. */
    private Mono<ApiAnswer> enable(ApiRequest request, boolean on) {
        RuleStatus rule = find(request);
        LiveObject<LiveRule> object = objects.kind().get(rule.name());
        if (object == null) {
            throw Problem.badRequest("rules." + rule.name() + " is in the configuration, and cannot be changed")
                    .exception();
        }
        Expected version = Expected.version(object.version());
        return put(request, rule.name(), object.value().enabled(on), version, made -> ApiAnswer.noContent());
    }

    private Mono<ApiAnswer> put(
            ApiRequest request,
            String id,
            LiveRule rule,
            Expected expected,
            Function<LiveObject<LiveRule>, ApiAnswer> answer) {
        return ObjectProblems.answered(
                rules().check(id, rule.keys())
                        .doOnNext(problems -> {
                            if (!problems.isEmpty()) {
                                throw Problem.badRequest(String.join("; ", problems))
                                        .exception();
                            }
                        })
                        .then(Mono.defer(() -> objects.kind().put(id, rule, expected, Origins.of(request))))
                        .delayUntil(made -> settled())
                        .map(answer),
                MISSING);
    }

    /** The change is in force on this node, if that does not take too long. */
    private Mono<Void> settled() {
        return rules().settled().timeout(SETTLED_WITHIN, Mono.empty());
    }

    private Mono<ApiAnswer> remove(ApiRequest request) {
        return ObjectProblems.answered(
                objects.kind()
                        .delete(request.path(ID), Expected.SOMETHING, Origins.of(request))
                        .then(Mono.defer(this::settled))
                        .thenReturn(ApiAnswer.noContent()),
                MISSING);
    }

    // --- trials

    private Mono<ApiAnswer> test(ApiRequest request) {
        JsonFields fields = request.fields();
        Map<String, @Nullable Object> context = new LinkedHashMap<>();
        if (fields.has("context")) {
            fields.object("context").toMap().forEach((name, value) -> context.put(name, value));
        }
        boolean traced = Boolean.TRUE.equals(request.flag("trace"));
        return rules().test(fields.text(LiveRule.SQL), context).map(trial -> answer(trial, traced));
    }

    /** As EMQX answers: the row, or an array of the rows of FOREACH; 412 if the message is not selected. */
    private static ApiAnswer answer(Rules.Trial trial, boolean traced) {
        String problem = trial.problem();
        if (trial.isMistake()) {
            return Problem.badRequest(String.valueOf(problem)).answer();
        }
        if (traced) {
            Map<String, @Nullable Object> all = new LinkedHashMap<>();
            all.put("rows", trial.rows());
            all.put("problem", problem);
            all.put("clauses", trial.clauses());
            return ApiAnswer.json(all);
        }
        if (problem != null) {
            return new Problem(412, "NOT_MATCH", problem).answer();
        }
        return ApiAnswer.json(trial.rows().size() == 1 ? trial.rows().get(0) : trial.rows());
    }

    // --- the sink of an action

    private Mono<ApiAnswer> probe(ApiRequest request) {
        Rules rules = view.rulesHere();
        if (rules == null) {
            throw missing().exception();
        }
        return rules.probe(request.path(ID), request.path("action"))
                .switchIfEmpty(Mono.error(() -> missing().exception()))
                .map(reason -> {
                    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
                    fields.put("status", reason.isEmpty() ? "connected" : "disconnected");
                    if (!reason.isEmpty()) {
                        fields.put("status_reason", reason);
                    }
                    return ApiAnswer.json(fields);
                });
    }
}
