// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.topic;

import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.admin.security.ObjectProblems;
import io.smqtt.admin.security.Origins;
import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * {@code /mqtt/topic_rewrite}, {@code /mqtt/auto_subscribe}, {@code /mqtt/retainer/policies} and {@code /schema_validations}: each is one list, which is read
 * and replaced as a whole.
 */
@AnyThread
public final class TopicRuleRoutes implements RouteGroup {

    private static final String CHECKS = "/schema_validations";
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
        return Stream.of(
                        routes("/mqtt/topic_rewrite", objects.rewrites()),
                        routes("/mqtt/auto_subscribe", objects.subscriptions()),
                        routes("/mqtt/retainer/policies", objects.policies()),
                        routes(CHECKS, objects.checks()))
                .flatMap(List::stream)
                .toList();
    }

    private List<Route> routes(String path, RuleList<?> rules) {
        return List.of(
                Route.get(path, Role.VIEWER, request -> list(rules)),
                new Route("PUT", path, Role.OPERATOR, BODY_BYTES, request -> {
                    if (path.equals(CHECKS) && !objects.canCheck()) {
                        throw Problem.badRequest("this broker has no module that checks payloads")
                                .exception();
                    }
                    return replace(rules, request);
                }));
    }

    private static Mono<ApiAnswer> list(RuleList<?> rules) {
        return Mono.fromSupplier(() -> ApiAnswer.json(rules.rows()));
    }

    /** Rules are read on another thread, because a statement among them takes time. */
    private static <T> Mono<ApiAnswer> replace(RuleList<T> rules, ApiRequest request) {
        List<JsonFields> rows = request.array(RuleList.MAX_RULES);
        return ObjectProblems.answered(
                Mono.fromCallable(() -> rules.read(rows))
                        .subscribeOn(Schedulers.boundedElastic())
                        .flatMap(wanted -> rules.replace(wanted, Origins.of(request)))
                        .then(list(rules)),
                "NOT_FOUND");
    }
}
