// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;
import reactor.core.publisher.Mono;

/** {@code /openapi.yaml}: the description of the API. Needs no login. */
public final class OpenApiRoutes implements RouteGroup {

    private static final String FILE = "openapi.yaml";
    private static final String TYPE = "application/yaml";

    private final byte[] description;

    /** Creates the route. Reads the file from the class path. */
    public OpenApiRoutes() {
        try (InputStream in = Objects.requireNonNull(OpenApiRoutes.class.getResourceAsStream(FILE))) {
            description = in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public List<Route> routes() {
        ApiAnswer answer = ApiAnswer.content(200, TYPE, description);
        return List.of(Route.get("/" + FILE, null, request -> Mono.just(answer)));
    }
}
