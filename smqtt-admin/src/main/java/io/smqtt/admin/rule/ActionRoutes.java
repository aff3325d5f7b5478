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
import io.smqtt.spi.ActionType;
import io.smqtt.spi.Rules;
import io.smqtt.thread.AnyThread;
import java.util.List;
import reactor.core.publisher.Mono;

/** {@code /action_types} and {@code /actions_probe}: what an action of a rule can be, with the keys of each type, and whether one would work. */
@AnyThread
public final class ActionRoutes implements RouteGroup {

    private static final int BODY_BYTES = 64 << 10;

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
        return TypeFields.list(this::types);
    }

    private Mono<ApiAnswer> show(ApiRequest request) {
        return TypeFields.show(request, this::types, "actions");
    }

    private Mono<ApiAnswer> probe(ApiRequest request) {
        Rules rules = view.rulesHere();
        if (rules == null) {
            throw Problem.notFound("this broker has no rules").exception();
        }
        String rule = request.query("rule");
        LiveObject<LiveRule> former = rule == null ? null : objects.kind().get(rule);
        ActionMask mask = ActionMask.of(rules.types());
        return TypeFields.probed(
                rules.probe(LiveRule.action(request.fields(), former == null ? null : former.value(), mask)));
    }
}
