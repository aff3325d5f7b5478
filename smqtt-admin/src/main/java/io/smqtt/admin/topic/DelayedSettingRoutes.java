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

/** {@code /mqtt/delayed}: whether messages can be delayed, and the limits. */
@AnyThread
public final class DelayedSettingRoutes implements RouteGroup {

    private static final String PATH = "/mqtt/delayed";
    private static final int BODY_BYTES = 4_096;

    private final DelayedSettings settings;

    /**
     * Creates the routes.
     *
     * @param settings what operators have set
     */
    public DelayedSettingRoutes(DelayedSettings settings) {
        this.settings = settings;
    }

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get(PATH, Role.VIEWER, request -> status()),
                new Route("PUT", PATH, Role.OPERATOR, BODY_BYTES, this::change));
    }

    private Mono<ApiAnswer> status() {
        return Mono.fromSupplier(() -> ApiAnswer.json(settings.fields()));
    }

    private Mono<ApiAnswer> change(ApiRequest request) {
        return ObjectProblems.answered(
                settings.change(request.fields(), Origins.of(request)).then(status()), "NOT_FOUND");
    }
}
