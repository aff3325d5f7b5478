// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.Fields;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.routing.Subscription;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicName;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import reactor.core.publisher.Mono;

/** {@code /subscriptions}, {@code /topics} and {@code /explain}: where messages go. */
@AnyThread
public final class RoutingRoutes implements RouteGroup {

    private static final String SUBSCRIPTIONS = "subscriptions.list";
    private static final String TOPICS = "topics.list";

    private final BrokerView view;
    private final NodeCalls calls;

    /**
     * Creates the routes.
     *
     * @param view the broker
     * @param calls reaches the other nodes
     */
    public RoutingRoutes(BrokerView view, NodeCalls calls) {
        this.view = view;
        this.calls = calls;
        calls.register(SUBSCRIPTIONS, this::subscriptionsHere);
        calls.register(TOPICS, this::topicsHere);
    }

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get("/subscriptions", Role.VIEWER, this::subscriptions),
                Route.get("/topics", Role.VIEWER, this::topics),
                Route.get("/topics/{topic}", Role.VIEWER, this::topic),
                Route.get("/explain", Role.VIEWER, this::explain));
    }

    private Mono<ApiAnswer> subscriptions(ApiRequest request) {
        Map<String, Object> filter = new LinkedHashMap<>();
        for (String name : List.of("clientid", "topic", "share_group", "match_topic")) {
            String value = request.query(name);
            if (value != null) {
                filter.put(name, value);
            }
        }
        if (request.query("qos") != null) {
            filter.put("qos", request.number("qos", 0, 0, 2));
        }
        String matched = request.query("match_topic");
        if (matched != null) {
            TopicName.of(matched); // refused on this node
        }
        return ClusterList.answer(calls, SUBSCRIPTIONS, request, filter);
    }

    private Mono<Map<String, Object>> subscriptionsHere(JsonFields question) {
        String node = view.nodeName();
        return view.subscriptions(ClusterList.cut(question), filter(question))
                .map(found -> ClusterList.part(found, one -> ClientFields.of(one, node)));
    }

    private static Predicate<Subscription> filter(JsonFields question) {
        Predicate<Subscription> all = one -> true;
        String client = question.textOrNull("clientid");
        if (client != null) {
            all = all.and(one -> client.equals(one.subscriber().id()));
        }
        String topic = question.textOrNull("topic");
        if (topic != null) {
            all = all.and(one -> topic.equals(one.clientFilter())
                    || topic.equals(one.filter().value()));
        }
        String share = question.textOrNull("share_group");
        if (share != null) {
            all = all.and(one -> share.equals(one.shareName()));
        }
        String matched = question.textOrNull("match_topic");
        if (matched != null) {
            TopicName name = TopicName.of(matched);
            all = all.and(one -> one.filter().matches(name));
        }
        if (question.has("qos")) {
            long qos = question.number("qos", 0, 2);
            all = all.and(one -> one.maximumQos().level() == qos);
        }
        return all;
    }

    private Mono<ApiAnswer> topics(ApiRequest request) {
        String topic = request.query("topic");
        return ClusterList.answer(calls, TOPICS, request, topic == null ? Map.of() : Map.of("topic", topic));
    }

    private Mono<Map<String, Object>> topicsHere(JsonFields question) {
        String topic = question.textOrNull("topic");
        String node = view.nodeName();
        return view.filters(ClusterList.cut(question), filter -> topic == null || topic.equals(filter))
                .map(found -> ClusterList.part(found, filter -> Map.of("topic", filter, "node", node)));
    }

    private Mono<ApiAnswer> topic(ApiRequest request) {
        Map<String, Object> question = new LinkedHashMap<>();
        question.put("topic", request.path("topic"));
        question.put("after", Long.toString(Long.MIN_VALUE));
        question.put("skip", 0);
        question.put("limit", 1);
        return calls.askAll(TOPICS, question).map(answers -> {
            List<Object> rows = answers.byNode().values().stream()
                    .flatMap(part ->
                            part.get("rows") instanceof List<?> found ? found.stream() : java.util.stream.Stream.of())
                    .<Object>map(row -> row)
                    .toList();
            if (rows.isEmpty()) {
                throw new Problem(404, "TOPIC_NOT_FOUND", "Topic not found").exception();
            }
            return ApiAnswer.json(rows);
        });
    }

    private Mono<ApiAnswer> explain(ApiRequest request) {
        String topic = request.query("topic");
        if (topic == null) {
            throw Problem.badRequest("the parameter topic is missing").exception();
        }
        return view.explain(topic, request.query("clientid"))
                .map(found -> ApiAnswer.json(Fields.of(found, Fields::of)));
    }
}
