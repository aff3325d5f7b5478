// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.Cut;
import io.smqtt.admin.Fields;
import io.smqtt.admin.Slice;
import io.smqtt.admin.broker.ClientFields;
import io.smqtt.admin.broker.NodeFigures;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.topic.InvalidTopicException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import reactor.core.publisher.Mono;

/**
 * The actuator's endpoint {@code smqtt}: this node; below it {@code clients}, {@code client}, {@code subscriptions}, {@code listeners},
 * {@code cluster} and {@code explain}. The fields are those of the API. Payloads and passwords are in none of them, client identifiers and
 * user names are.
 */
@Endpoint(id = "smqtt")
final class SmqttEndpoint {

    private static final int DEFAULT_LIMIT = 100;
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final BrokerLifecycle lifecycle;
    private final ListenerMethods listeners;

    SmqttEndpoint(BrokerLifecycle lifecycle, ListenerMethods listeners) {
        this.lifecycle = lifecycle;
        this.listeners = listeners;
    }

    /** This node; only whether it runs while it does not. */
    @ReadOperation
    Map<String, @Nullable Object> summary() {
        BrokerView view = lifecycle.view();
        Map<String, @Nullable Object> summary = new LinkedHashMap<>();
        summary.put("running", view != null);
        if (view != null) {
            summary.putAll(new NodeFigures(view).node());
        }
        return summary;
    }

    /**
     * One part of it.
     *
     * @param part clients, client, subscriptions, listeners, cluster or explain
     * @param limit how many entries at most, 100 unless it is given
     * @param match what client identifiers or filters have to contain
     * @param topic the topic name of a message to explain
     * @param client the client identifier of the one client, or of who would publish the message; the application, if it is
     *     not given
     * @return null, which is 404, for anything else, if there is no such client, and while the broker does not run
     * @throws InvalidEndpointRequestException which is 400, if the topic is not a topic name, or what the part needs is missing
     */
    @ReadOperation
    @SuppressWarnings("deprecation") // Spring Boot 3 knows optional parameters by Spring's own annotation
    @Nullable
    Map<String, @Nullable Object> part(
            @Selector String part,
            @org.springframework.lang.Nullable @Nullable Integer limit,
            @org.springframework.lang.Nullable @Nullable String match,
            @org.springframework.lang.Nullable @Nullable String topic,
            @org.springframework.lang.Nullable @Nullable String client) {
        int most = Math.max(1, Math.min(limit == null ? DEFAULT_LIMIT : limit, BrokerView.MAX_ENTRIES));
        BrokerView view = lifecycle.view();
        if (part.equals("listeners")) {
            return listeners(most);
        }
        if (view == null) {
            return null;
        }
        String contained = match == null ? "" : match;
        return switch (part) {
            case "clients" -> clients(view, most, contained);
            case "client" -> client(view, required("client", client));
            case "subscriptions" -> subscriptions(view, most, contained);
            case "cluster" -> cluster(view);
            case "explain" -> explain(view, required("topic", topic), client);
            default -> null;
        };
    }

    private static String required(String name, @Nullable String value) {
        if (value == null || value.isEmpty()) {
            throw new InvalidEndpointRequestException("without " + name, "Parameter " + name + " is missing");
        }
        return value;
    }

    private static Map<String, @Nullable Object> clients(BrokerView view, int most, String contained) {
        String node = view.nodeName();
        return list(
                most,
                view.clients(
                        new Cut(Cut.START, 0, most),
                        row -> row.info().identity().clientId().contains(contained)),
                row -> ClientFields.of(row, node, view.limits()));
    }

    private static Map<String, @Nullable Object> subscriptions(BrokerView view, int most, String contained) {
        String node = view.nodeName();
        return list(
                most,
                view.subscriptions(
                        new Cut(Cut.START, 0, most), one -> one.filter().value().contains(contained)),
                one -> ClientFields.of(one, node));
    }

    private static <T> Map<String, @Nullable Object> list(int most, Mono<Slice<T>> found, Function<T, ?> fields) {
        Slice<T> slice = Objects.requireNonNull(found.block(PATIENCE));
        return list(most, slice.total(), slice.rows().stream().map(fields).toList());
    }

    /** As a list of the API. */
    private static Map<String, @Nullable Object> list(int most, int total, List<?> rows) {
        Map<String, Object> meta = new LinkedHashMap<>();
        meta.put("limit", most);
        meta.put("count", total);
        meta.put("hasnext", rows.size() < total);
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("data", rows);
        all.put("meta", meta);
        return all;
    }

    private static @Nullable Map<String, @Nullable Object> client(BrokerView view, String clientId) {
        return view.row(clientId)
                .map(row -> ClientFields.of(row, view.nodeName(), view.limits()))
                .block(PATIENCE);
    }

    private static Map<String, @Nullable Object> explain(BrokerView view, String topic, @Nullable String clientId) {
        try {
            return Objects.requireNonNull(view.explain(topic, clientId)
                    .map(found -> Fields.of(found, Fields::of))
                    .block(PATIENCE));
        } catch (InvalidTopicException e) {
            throw new InvalidEndpointRequestException(
                    String.valueOf(e.getMessage()), "Parameter topic is no topic name");
        }
    }

    private Map<String, @Nullable Object> listeners(int most) {
        List<ListenerMethod> all = listeners.all();
        return list(
                most,
                all.size(),
                all.stream().limit(most).map(SmqttEndpoint::listener).toList());
    }

    private static Map<String, Object> listener(ListenerMethod method) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("method", method.name());
        map.put("filter", method.pattern().filter().value());
        map.put("active", method.isActive());
        map.put("handled", method.handledCount());
        map.put("failed", method.failedCount());
        return map;
    }

    private static Map<String, @Nullable Object> cluster(BrokerView view) {
        ClusterStatus status = view.clusterStatus();
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("self", view.nodeName());
        all.put("status", status == null ? null : Fields.of(status));
        return all;
    }
}
