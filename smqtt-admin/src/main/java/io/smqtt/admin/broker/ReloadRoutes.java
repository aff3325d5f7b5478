// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.ReloadResult;
import io.smqtt.admin.BrokerView;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.thread.AnyThread;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** {@code /reload}: reads the files of this node again, as SIGHUP does. */
@AnyThread
public final class ReloadRoutes implements RouteGroup {

    private static final Logger LOG = LoggerFactory.getLogger(ReloadRoutes.class);

    private final BrokerView view;

    /**
     * Creates the route.
     *
     * @param view the broker
     */
    public ReloadRoutes(BrokerView view) {
        this.view = view;
    }

    @Override
    public List<Route> routes() {
        return List.of(new Route("POST", "/reload", Role.ADMINISTRATOR, 0, this::reload));
    }

    private Mono<ApiAnswer> reload(ApiRequest request) {
        return Mono.fromCallable(() -> view.broker().reload())
                .subscribeOn(Schedulers.boundedElastic()) // reads files
                .map(this::answer);
    }

    private ApiAnswer answer(ReloadResult result) {
        LOG.info("reloaded: {}", result.reloaded());
        result.failed()
                .forEach(failure -> LOG.error("not reloaded, the previous content stays in effect: {}", failure));
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("node", view.nodeName());
        fields.put("reloaded", result.reloaded());
        fields.put("failed", result.failed());
        return ApiAnswer.json(fields).failing(result.failed());
    }
}
