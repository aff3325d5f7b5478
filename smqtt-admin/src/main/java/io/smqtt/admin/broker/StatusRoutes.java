// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;

/** {@code /status}: whether the broker runs. Needs no login. */
public final class StatusRoutes implements RouteGroup {

    private final BrokerView view;

    /**
     * Creates the routes.
     *
     * @param view the broker
     */
    public StatusRoutes(BrokerView view) {
        this.view = view;
    }

    @Override
    public List<Route> routes() {
        return List.of(Route.get("/status", null, this::status));
    }

    private Mono<ApiAnswer> status(ApiRequest request) {
        String format = request.query("format");
        if (format != null && !format.equals("json") && !format.equals("text")) {
            throw Problem.badRequest("the parameter format must be json or text")
                    .exception();
        }
        boolean runs = view.isRunning();
        int status = runs ? 200 : 503;
        if ("json".equals(format)) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("node_name", view.nodeName());
            fields.put("rel_vsn", view.version());
            fields.put("broker_status", runs ? "started" : "starting");
            fields.put("app_status", runs ? "running" : "not_running");
            return Mono.just(ApiAnswer.json(status, fields));
        }
        String text = "Node " + view.nodeName()
                + (runs ? " is started\nsmqtt is running" : " is starting\nsmqtt is not_running");
        return Mono.just(ApiAnswer.text(status, "text/plain; charset=utf-8", text));
    }
}
