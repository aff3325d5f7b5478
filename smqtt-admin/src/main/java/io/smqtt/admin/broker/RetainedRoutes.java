// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.Slice;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.ProblemException;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** {@code /mqtt/retainer}: retained messages, of which each node has all. */
@AnyThread
public final class RetainedRoutes implements RouteGroup {

    private static final int DEFAULT_LIMIT = 100;
    private static final int MAX_LIMIT = 10_000;
    private static final int MOST_PAGES = 100_000;
    private static final String ALL = "#";

    private final BrokerView view;

    /**
     * Creates the routes.
     *
     * @param view the broker
     */
    public RetainedRoutes(BrokerView view) {
        this.view = view;
    }

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get("/mqtt/retainer/messages", Role.VIEWER, this::list),
                Route.delete("/mqtt/retainer/messages", Role.OPERATOR, this::removeAll),
                Route.get("/mqtt/retainer/message/{topic}", Role.VIEWER, this::get),
                Route.delete("/mqtt/retainer/message/{topic}", Role.OPERATOR, this::remove));
    }

    private static TopicFilter filter(@Nullable String text) {
        return TopicFilter.of(text == null ? ALL : text);
    }

    private Mono<ApiAnswer> list(ApiRequest request) {
        int limit = (int) request.number("limit", DEFAULT_LIMIT, 1, MAX_LIMIT);
        int page = (int) request.number("page", 1, 1, MOST_PAGES);
        String topic = request.query("topic");
        return view.retained(filter(topic), (page - 1) * limit, limit)
                .map(found -> ApiAnswer.json(Map.of(
                        "data",
                        found.rows().stream().map(this::fields).toList(),
                        "meta",
                        meta(page, limit, topic == null, found))));
    }

    private static Map<String, Object> meta(int page, int limit, boolean all, Slice<?> found) {
        Map<String, Object> meta = new LinkedHashMap<>();
        meta.put("page", page);
        meta.put("limit", limit);
        if (all) {
            meta.put("count", found.total());
        }
        meta.put("hasnext", found.more());
        if (found.shortened()) {
            meta.put("truncated", true);
        }
        return meta;
    }

    private Map<String, @Nullable Object> fields(ApplicationMessage message) {
        return MessageFields.of(message, message.qos().level(), view.acceptedAtMillis(message));
    }

    private static ProblemException missing() {
        return Problem.notFound("there is no retained message").exception();
    }

    private Mono<ApiAnswer> get(ApiRequest request) {
        ApplicationMessage found = view.retained(TopicName.of(request.path("topic")));
        if (found == null) {
            throw missing();
        }
        Map<String, @Nullable Object> fields = fields(found);
        fields.put("payload", MessageFields.text(found.payload(), MessageFields.Encoding.BASE64));
        return Mono.just(ApiAnswer.json(fields));
    }

    private Mono<ApiAnswer> remove(ApiRequest request) {
        return view.removeRetained(filter(request.path("topic"))).map(removed -> {
            if (removed == 0) {
                throw missing();
            }
            return ApiAnswer.noContent();
        });
    }

    private Mono<ApiAnswer> removeAll(ApiRequest request) {
        return view.removeRetained(filter(request.query("topic"))).thenReturn(ApiAnswer.noContent());
    }
}
