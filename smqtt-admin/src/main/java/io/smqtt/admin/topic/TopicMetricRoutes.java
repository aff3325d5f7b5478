// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.topic;

import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.admin.broker.NodeCalls;
import io.smqtt.admin.object.Expected;
import io.smqtt.admin.object.LiveObject;
import io.smqtt.admin.security.ObjectProblems;
import io.smqtt.admin.security.Origins;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** {@code /mqtt/topic_metrics}: counts of the messages of single topics and filters, added over all nodes. */
@AnyThread
public final class TopicMetricRoutes implements RouteGroup {

    private static final String READ = "topic_metrics.read";
    private static final String RESET = "topic_metrics.reset";
    private static final String TOPIC = "topic";
    private static final String MISSING = "TOPIC_NOT_FOUND";
    private static final int BODY_BYTES = 16_384;

    private final TopicMetrics metrics;
    private final NodeCalls calls;
    private final InstantSource clock;

    /**
     * Creates the routes.
     *
     * @param metrics the counts of this node
     * @param calls reaches the other nodes
     * @param clock the time of day
     */
    public TopicMetricRoutes(TopicMetrics metrics, NodeCalls calls, InstantSource clock) {
        this.metrics = metrics;
        this.calls = calls;
        this.clock = clock;
        calls.register(READ, question -> Mono.fromCallable(metrics::read));
        calls.register(RESET, this::resetHere);
    }

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get("/mqtt/topic_metrics", Role.VIEWER, this::list),
                new Route("POST", "/mqtt/topic_metrics", Role.OPERATOR, BODY_BYTES, this::add),
                new Route("PUT", "/mqtt/topic_metrics", Role.OPERATOR, BODY_BYTES, this::reset),
                Route.get("/mqtt/topic_metrics/{topic}", Role.VIEWER, this::show),
                Route.delete("/mqtt/topic_metrics/{topic}", Role.OPERATOR, this::remove));
    }

    private Mono<ApiAnswer> list(ApiRequest request) {
        return read().map(counts -> ApiAnswer.json(metrics.filters().list().stream()
                .map(object -> fields(object, counts))
                .toList()));
    }

    private Mono<ApiAnswer> show(ApiRequest request) {
        LiveObject<TopicMetric> object = metrics.filters().get(request.path(TOPIC));
        if (object == null) {
            throw missing();
        }
        return read().map(counts -> ApiAnswer.json(fields(object, counts)));
    }

    private static RuntimeException missing() {
        return new Problem(404, MISSING, "the messages of this topic are not counted").exception();
    }

    private static Map<String, Object> fields(LiveObject<TopicMetric> object, Map<String, Map<String, Number>> counts) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put(TOPIC, object.id());
        all.put("create_time", object.value().createdAt().toString());
        all.put("metrics", counts.getOrDefault(object.id(), Map.of()));
        return all;
    }

    /** The counts of all nodes that answer, by filter. */
    private Mono<Map<String, Map<String, Number>>> read() {
        return calls.askAll(READ, Map.of()).map(answers -> {
            Map<String, Map<String, Number>> sums = new TreeMap<>();
            answers.byNode()
                    .values()
                    .forEach(node -> node.forEach((filter, counts) -> {
                        if (counts instanceof Map<?, ?> some) {
                            Map<String, Number> sum = sums.computeIfAbsent(filter, name -> new LinkedHashMap<>());
                            some.forEach((name, count) -> {
                                if (count instanceof Number number) {
                                    sum.merge(String.valueOf(name), number, TopicMetricRoutes::sum);
                                }
                            });
                        }
                    }));
            return sums;
        });
    }

    private static Number sum(Number one, Number other) {
        return one instanceof Double || other instanceof Double
                ? (Number) (one.doubleValue() + other.doubleValue())
                : (Number) (one.longValue() + other.longValue());
    }

    private Mono<ApiAnswer> add(ApiRequest request) {
        String topic = request.fields().text(TOPIC);
        if (SharedFilter.isShared(topic)) {
            throw Problem.badRequest("the field topic must be a topic or filter without $share")
                    .exception();
        }
        TopicFilter.of(topic);
        Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
        return ObjectProblems.answered(
                metrics.filters()
                        .put(topic, new TopicMetric(now), Expected.NOTHING, Origins.of(request))
                        .map(made -> ApiAnswer.json(Map.of(TOPIC, topic))),
                MISSING);
    }

    private Mono<ApiAnswer> remove(ApiRequest request) {
        return ObjectProblems.answered(
                metrics.filters()
                        .delete(request.path(TOPIC), Expected.SOMETHING, Origins.of(request))
                        .thenReturn(ApiAnswer.noContent()),
                MISSING);
    }

    private Mono<ApiAnswer> reset(ApiRequest request) {
        JsonFields fields = request.fields();
        if (!fields.text("action").equals("reset")) {
            throw Problem.badRequest("the field action must be reset").exception();
        }
        String topic = fields.textOrNull(TOPIC);
        if (topic != null && metrics.filters().get(topic) == null) {
            throw missing();
        }
        return calls.askAll(RESET, topic == null ? Map.of() : Map.of(TOPIC, topic))
                .thenReturn(ApiAnswer.noContent());
    }

    private Mono<Map<String, Object>> resetHere(JsonFields question) {
        return Mono.fromCallable(() -> {
            @Nullable String topic = question.textOrNull(TOPIC);
            metrics.reset(topic);
            return Map.of("reset", true);
        });
    }
}
