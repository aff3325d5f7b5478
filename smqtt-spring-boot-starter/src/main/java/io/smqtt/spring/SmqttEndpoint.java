// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.ClientDetails;
import io.smqtt.ClientInfo;
import io.smqtt.Explanation;
import io.smqtt.admin.Bounded;
import io.smqtt.admin.BrokerView;
import io.smqtt.admin.Fields;
import io.smqtt.admin.Page;
import io.smqtt.admin.SubscriptionInfo;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.topic.InvalidTopicException;
import java.time.Duration;
import java.util.ArrayList;
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

/**
 * The actuator's endpoint {@code smqtt}: what runs; below it {@code clients}, {@code client}, {@code subscriptions}, {@code listeners},
 * {@code cluster} and {@code explain}. Payloads and passwords are in none of them, client identifiers and user names are.
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

    /** What runs. */
    @ReadOperation
    Map<String, Object> summary() {
        BrokerView view = lifecycle.view();
        Map<String, Object> summary = new LinkedHashMap<>();
        summary.put("running", view != null);
        if (view != null) {
            summary.putAll(
                    present(Fields.of(Objects.requireNonNull(view.summary().block(PATIENCE)))));
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
     * @return null, which is 404, for anything else, and if there is no such client
     * @throws InvalidEndpointRequestException which is 400, if the topic is not a topic name, or what the part needs is missing
     */
    @ReadOperation
    @Nullable
    @SuppressWarnings("deprecation") // Spring Boot 3 knows optional parameters by Spring's own annotation
    Map<String, Object> part(
            @Selector String part,
            @org.springframework.lang.Nullable @Nullable Integer limit,
            @org.springframework.lang.Nullable @Nullable String match,
            @org.springframework.lang.Nullable @Nullable String topic,
            @org.springframework.lang.Nullable @Nullable String client) {
        int most = Math.max(1, Math.min(limit == null ? DEFAULT_LIMIT : limit, BrokerView.MAX_ENTRIES));
        String contained = match == null ? "" : match;
        return switch (part) {
            case "clients" -> page(part, clients(most, contained), SmqttEndpoint::client);
            case "subscriptions" -> page(part, subscriptions(most, contained), Fields::of);
            case "listeners" -> {
                Page.Builder<ListenerMethod, Map<String, Object>> page =
                        new Page.Builder<>(most, BrokerView.MAX_BYTES, SmqttEndpoint::listener, method -> 0);
                listeners.all().forEach(page::add);
                yield page(part, page.build(), method -> method);
            }
            case "cluster" -> cluster();
            case "client" -> client(required("client", client));
            case "explain" -> explain(required("topic", topic), client);
            default -> null;
        };
    }

    private static String required(String name, @Nullable String value) {
        if (value == null || value.isEmpty()) {
            throw new InvalidEndpointRequestException("without " + name, "Parameter " + name + " is missing");
        }
        return value;
    }

    /** Those that come from outside. */
    private Page<ClientInfo> clients(int most, String contained) {
        BrokerView view = lifecycle.view();
        Page<ClientInfo> page = view == null
                ? null
                : view.clients(
                                most,
                                one -> BrokerView.isClient(one)
                                        && one.identity().clientId().contains(contained))
                        .block(PATIENCE);
        return page == null ? new Page<>(0, List.of(), false) : page;
    }

    private Page<SubscriptionInfo> subscriptions(int most, String contained) {
        BrokerView view = lifecycle.view();
        return view == null
                ? new Page<>(0, List.of(), false)
                : view.subscriptions(most, one -> one.filter().value().contains(contained));
    }

    private static <T> Map<String, Object> page(
            String name, Page<T> page, Function<? super T, ? extends Map<String, ?>> fields) {
        Map<String, Object> all = present(Fields.of(name, page, fields));
        if (!page.truncated()) {
            all.remove("truncated");
        }
        return all;
    }

    private @Nullable Map<String, Object> client(String clientId) {
        BrokerView view = lifecycle.view();
        Bounded<ClientDetails> found =
                view == null ? null : view.client(clientId).block(PATIENCE);
        if (found == null) {
            return null;
        }
        ClientDetails details = found.answer();
        Map<String, Object> map = client(details.info());
        fields(found, Fields::of).forEach((name, value) -> {
            switch (name) {
                case "address" -> {} // is there
                case "keepAliveSeconds" -> putText(map, "keepAlive", details.keepAlive());
                case "sessionExpirySeconds" ->
                    putText(map, "sessionExpiry", Objects.requireNonNullElse(details.sessionExpiry(), "never"));
                case "filters" -> map.put("subscriptions", value);
                default -> map.put(name, value);
            }
        });
        return map;
    }

    private @Nullable Map<String, Object> explain(String topic, @Nullable String clientId) {
        BrokerView view = lifecycle.view();
        if (view == null) {
            return null;
        }
        try {
            Bounded<Explanation> found = view.explain(topic, clientId).block(PATIENCE);
            return found == null ? null : fields(found, Fields::of);
        } catch (InvalidTopicException e) {
            throw new InvalidEndpointRequestException(
                    String.valueOf(e.getMessage()), "Parameter topic is no topic name");
        }
    }

    /** What was left out is told only if it was. */
    private static <T> Map<String, Object> fields(
            Bounded<T> found, Function<? super T, Map<String, @Nullable Object>> fields) {
        return present(found.leftOut().isEmpty() ? fields.apply(found.answer()) : Fields.of(found, fields));
    }

    /** Those that there are, also of objects in lists. */
    private static Map<String, Object> present(Map<?, ?> fields) {
        Map<String, Object> present = new LinkedHashMap<>();
        fields.forEach((name, value) -> {
            if (value instanceof List<?> list) {
                present.put(
                        String.valueOf(name),
                        list.stream()
                                .map(one -> one instanceof Map<?, ?> object ? present(object) : one)
                                .toList());
            } else if (value != null) {
                present.put(String.valueOf(name), value);
            }
        });
        return present;
    }

    private static void putText(Map<String, Object> map, String key, @Nullable Object value) {
        if (value != null) {
            map.put(key, value.toString());
        }
    }

    private static Map<String, Object> client(ClientInfo client) {
        Map<String, Object> map = present(Fields.of(client));
        map.put("address", String.valueOf(client.identity().remoteAddress()));
        return map;
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

    private Map<String, Object> cluster() {
        ClusterStatus status = lifecycle.cluster();
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("enabled", status != null);
        if (status != null) {
            map.put("state", status.state().name());
            map.put("node", node(status.self()));
            map.put("reachableNodes", status.reachableNodes());
            map.put("ready", status.isReady());
            List<Map<String, Object>> peers = new ArrayList<>();
            for (ClusterStatus.PeerStatus peer : status.peers()) {
                Map<String, Object> one = node(peer.node());
                one.put("reachable", peer.reachable());
                one.put("routeLag", peer.routeLag());
                one.put("queuedMessages", peer.queuedMessages());
                one.put("parkedMessages", peer.parkedMessages());
                peers.add(one);
            }
            map.put("peers", peers);
        }
        return map;
    }

    private static Map<String, Object> node(ClusterStatus.Node node) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("nodeId", node.nodeId());
        map.put("address", node.address());
        map.put("routes", node.routes());
        return map;
    }
}
