// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.topic;

import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.admin.security.ObjectProblems;
import io.smqtt.admin.security.Origins;
import io.smqtt.thread.AnyThread;
import java.util.List;
import reactor.core.publisher.Mono;

/** {@code /mqtt/topic_rewrite} and {@code /mqtt/auto_subscribe}: each is one list, which is read and replaced as a whole, as in EMQX. */
@AnyThread
public final class TopicRuleRoutes implements RouteGroup {

    private static final String REWRITES = "/mqtt/topic_rewrite";
    private static final String SUBSCRIPTIONS = "/mqtt/auto_subscribe";
    private static final int BODY_BYTES = RuleList.MAX_BYTES;

    private final TopicRuleObjects objects;

    /**
     * Creates the routes.
     *
     * @param objects the rules
     */
    public TopicRuleRoutes(TopicRuleObjects objects) {
        this.objects = objects;
    }

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get(REWRITES, Role.VIEWER, request -> list(objects.rewrites())),
                new Route("PUT", REWRITES, Role.OPERATOR, BODY_BYTES, request -> replace(objects.rewrites(), request)),
                Route.get(SUBSCRIPTIONS, Role.VIEWER, request -> list(objects.subscriptions())),
                new Route(
                        "PUT",
                        SUBSCRIPTIONS,
                        Role.OPERATOR,
                        BODY_BYTES,
                        request -> replace(objects.subscriptions(), request)));
    }

    private static Mono<ApiAnswer> list(RuleList<?> rules) {
        return Mono.fromSupplier(() -> ApiAnswer.json(rules.rows()));
    }

    private static <T> Mono<ApiAnswer> replace(RuleList<T> rules, ApiRequest request) {
        List<T> wanted = rules.read(request.array(RuleList.MAX_RULES));
        return ObjectProblems.answered(
                rules.replace(wanted, Origins.of(request)).then(list(rules)), "NOT_FOUND");
    }
}
