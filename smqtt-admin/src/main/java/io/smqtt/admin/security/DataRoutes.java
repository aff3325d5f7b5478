// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.security;

import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.admin.object.ObjectFile;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;

/** {@code /data/export} and {@code /data/import}: all live objects as one file. */
public final class DataRoutes implements RouteGroup {

    private static final int MAX_FILE = 16 << 20;

    private final ObjectFile file;

    /**
     * Creates the routes.
     *
     * @param file reads and writes the objects
     */
    public DataRoutes(ObjectFile file) {
        this.file = file;
    }

    @Override
    public List<Route> routes() {
        return List.of(
                new Route("POST", "/data/export", Role.ADMINISTRATOR, 0, this::export),
                new Route("POST", "/data/import", Role.ADMINISTRATOR, MAX_FILE, this::load));
    }

    private Mono<ApiAnswer> export(ApiRequest request) {
        Origins.requirePerson(request);
        return Mono.just(ApiAnswer.json(file.write())
                .with("Content-Disposition", "attachment; filename=\"smqtt-objects.json\""));
    }

    private Mono<ApiAnswer> load(ApiRequest request) {
        Origins.requirePerson(request);
        Mono<ApiAnswer> answer = file.read(request.fields(), Origins.of(request))
                .map(count -> ApiAnswer.json(Map.of("imported", count)));
        return ObjectProblems.answered(answer, "NOT_FOUND");
    }
}
