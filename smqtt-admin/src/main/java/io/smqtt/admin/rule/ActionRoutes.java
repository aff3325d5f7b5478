// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.rule;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.admin.object.LiveObject;
import io.smqtt.config.ConfigurationException;
import io.smqtt.spi.ActionType;
import io.smqtt.spi.Rules;
import io.smqtt.thread.AnyThread;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import reactor.core.publisher.Mono;

/** {@code /action_types} and {@code /actions_probe}: what an action of a rule can be, with the keys of each type, and whether one would work. */
@AnyThread
public final class ActionRoutes implements RouteGroup {

    private static final int BODY_BYTES = 64 << 10;
    private static final String TYPE = "type";

    private final BrokerView view;
    private final RuleObjects objects;

    /**
     * Creates the routes.
     *
     * @param view the broker
     * @param objects the rules of operators
     */
    public ActionRoutes(BrokerView view, RuleObjects objects) {
        this.view = view;
        this.objects = objects;
    }

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get("/action_types", Role.VIEWER, this::list),
                Route.get("/action_types/{type}", Role.VIEWER, this::show),
                new Route("POST", "/actions_probe", Role.ADMINISTRATOR, BODY_BYTES, this::probe));
    }

    private List<ActionType> types() {
        Rules rules = view.rulesHere();
        return rules == null ? List.of() : rules.types();
    }

    private Mono<ApiAnswer> list(ApiRequest request) {
        return Mono.fromSupplier(
                () -> ApiAnswer.json(types().stream().map(ActionType::name).toList()));
    }

    private Mono<ApiAnswer> show(ApiRequest request) {
        return Mono.fromSupplier(() -> types().stream()
                .filter(type -> type.name().equals(request.path(TYPE)))
                .findFirst()
                .map(type -> ApiAnswer.json(fields(type)))
                .orElseThrow(() -> Problem.notFound("there is no such type of actions; others need their extension")
                        .exception()));
    }

    private static Map<String, Object> fields(ActionType type) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", type.name());
        fields.put("keys", type.keys().stream().map(ActionRoutes::fields).toList());
        fields.put(
                "common_keys",
                type.commonKeys().stream().map(ActionRoutes::fields).toList());
        return fields;
    }

    private static Map<String, Object> fields(ActionType.Key key) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", key.name());
        fields.put(TYPE, key.form().name().toLowerCase(Locale.ROOT));
        if (key.value() != null) {
            fields.put("default", key.value());
        }
        if (!key.min().isEmpty()) {
            fields.put("minimum", key.min());
            fields.put("maximum", key.max());
        }
        if (!key.choices().isEmpty()) {
            fields.put("enum", key.choices());
        }
        fields.put("required", key.isRequired());
        fields.put("secret", key.isSecret());
        fields.put("description", key.text());
        return fields;
    }

    /** As EMQX answers: 204, or 400 with the code TEST_FAILED. */
    private Mono<ApiAnswer> probe(ApiRequest request) {
        Rules rules = view.rulesHere();
        if (rules == null) {
            throw Problem.notFound("this broker has no rules").exception();
        }
        String rule = request.query("rule");
        LiveObject<LiveRule> former = rule == null ? null : objects.kind().get(rule);
        return rules.probe(
                        LiveRule.action(request.fields(), former == null ? null : former.value(), ActionMask.of(rules)))
                .onErrorMap(
                        ConfigurationException.class,
                        error -> Problem.badRequest(String.join("; ", error.problems()))
                                .exception())
                .map(reason ->
                        reason.isEmpty() ? ApiAnswer.noContent() : new Problem(400, "TEST_FAILED", reason).answer());
    }
}
