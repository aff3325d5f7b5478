// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.Replicas;
import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** {@code /cluster/replace}: another node in the place of a lost one. */
@AnyThread
public final class PlaceRoutes implements RouteGroup {

    private static final int BODY_BYTES = 4_096;
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9-]{0,63}");

    private final BrokerView view;

    /**
     * Creates the routes.
     *
     * @param view the broker
     */
    public PlaceRoutes(BrokerView view) {
        this.view = view;
    }

    @Override
    public List<Route> routes() {
        return List.of(new Route("POST", "/cluster/replace", Role.ADMINISTRATOR, BODY_BYTES, this::replace));
    }

    private Mono<ApiAnswer> replace(ApiRequest request) {
        JsonFields fields = request.fields();
        String lost = fields.text("node");
        String by = fields.text("by");
        Replicas replicas = view.heldReplicas();
        if (replicas == null) {
            throw Problem.badRequest("this node has no replicas: storage.replicas is 1")
                    .exception();
        }
        if (lost.equals(by)) {
            throw Problem.badRequest("a node with the same name needs no call: start it as " + lost + " with --replace")
                    .exception();
        }
        if (!NAME.matcher(by).matches()) {
            throw Problem.badRequest(
                            "the name of the new node must have 1 to 64 characters, a to z, 0 to 9 and hyphens: " + by)
                    .exception();
        }
        if (!replicas.holders().containsValue(by) && isNode(view.clusterStatus(), by)) {
            throw Problem.badRequest(by + " is a node of the cluster already").exception();
        }
        return Mono.fromCompletionStage(replicas.replace(lost, by))
                .onErrorMap(PlaceRoutes::problem)
                .map(place -> ApiAnswer.json(Map.of("place", place, "node", by)));
    }

    private static boolean isNode(@Nullable ClusterStatus status, String name) {
        return status != null
                && (status.self().nodeId().equals(name)
                        || status.peers().stream()
                                .anyMatch(peer -> peer.node().nodeId().equals(name)));
    }

    private static Throwable problem(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        String text = String.valueOf(cause.getMessage());
        if (cause instanceof IllegalArgumentException) {
            return Problem.badRequest(text).exception();
        }
        return cause instanceof IllegalStateException ? new Problem(409, "CONFLICT", text).exception() : cause;
    }
}
