// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.security;

import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/** {@code /configs}: the configuration in force, and where each value comes from. */
public final class ConfigRoutes implements RouteGroup {

    private final Supplier<List<Value>> values;

    /**
     * A value.
     *
     * @param key the key
     * @param value the text, masked if it is secret
     * @param origin the file and line, the environment variable, the flag, or {@code default}
     */
    public record Value(String key, String value, String origin) {}

    /**
     * Creates the routes.
     *
     * @param values the values in the order of the reference
     */
    public ConfigRoutes(Supplier<List<Value>> values) {
        this.values = values;
    }

    @Override
    public List<Route> routes() {
        return List.of(Route.get("/configs", Role.ADMINISTRATOR, this::list));
    }

    private Mono<ApiAnswer> list(ApiRequest request) {
        List<Map<String, Object>> all =
                values.get().stream().map(ConfigRoutes::fields).toList();
        return Mono.just(ApiAnswer.json(Map.of("data", all)));
    }

    private static Map<String, Object> fields(Value value) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("key", value.key());
        fields.put("value", value.value());
        fields.put("origin", value.origin());
        return fields;
    }
}
