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
import io.smqtt.spi.Sources;
import io.smqtt.thread.AnyThread;
import java.util.List;
import reactor.core.publisher.Mono;

/** {@code /source_types} and {@code /sources_probe}: what a source can be, with the keys of each type, and whether one would work. */
@AnyThread
public final class SourceTypeRoutes implements RouteGroup {

    private final BrokerView view;
    private final SourceObjects objects;

    /**
     * Creates the routes.
     *
     * @param view the broker
     * @param objects the sources of operators
     */
    public SourceTypeRoutes(BrokerView view, SourceObjects objects) {
        this.view = view;
        this.objects = objects;
    }

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get("/source_types", Role.VIEWER, request -> TypeFields.list(this::types)),
                Route.get(
                        "/source_types/{type}",
                        Role.VIEWER,
                        request -> TypeFields.show(request, this::types, "sources")),
                new Route("POST", "/sources_probe", Role.ADMINISTRATOR, SourceRoutes.BODY_BYTES, this::probe));
    }

    private List<ActionType> types() {
        Sources sources = view.sourcesHere();
        return sources == null ? List.of() : sources.types();
    }

    /** A source that is the same as before is asked itself: a place that one reader has may have no room for a second one. */
    private Mono<ApiAnswer> probe(ApiRequest request) {
        Sources sources = view.sourcesHere();
        if (sources == null) {
            throw Problem.notFound("this broker has no sources").exception();
        }
        String name = request.query("source");
        LiveObject<LiveSource> former = name == null ? null : objects.kind().get(name);
        ActionMask mask = ActionMask.of(sources.types());
        LiveSource source = LiveSource.of(request.fields()).keeping(former == null ? null : former.value(), mask);
        Mono<String> fresh = sources.probe(source.keys());
        return TypeFields.probed(
                former != null && isRead(former.value(), source)
                        ? sources.probe(former.id()).switchIfEmpty(fresh)
                        : fresh);
    }

    private static boolean isRead(LiveSource present, LiveSource source) {
        return present.isEnabled() && present.keys().equals(source.enabled(true).keys());
    }
}
