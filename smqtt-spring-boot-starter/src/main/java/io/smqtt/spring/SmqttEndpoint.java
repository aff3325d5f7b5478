// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.Broker;
import io.smqtt.ClientDetails;
import io.smqtt.ClientInfo;
import io.smqtt.Explanation;
import io.smqtt.routing.Subscription;
import io.smqtt.session.InProcess;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.topic.InvalidTopicException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import reactor.core.publisher.Flux;

/**
 * The actuator's endpoint {@code smqtt}: what runs; below it {@code clients}, {@code client}, {@code subscriptions}, {@code listeners},
 * {@code cluster} and {@code explain}. Payloads and passwords are in none of them, client identifiers and user names are.
 */
@Endpoint(id = "smqtt")
final class SmqttEndpoint {

    private static final int DEFAULT_LIMIT = 100;
    private static final int MOST = 10_000;
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
        Map<String, Object> summary = new LinkedHashMap<>();
        summary.put("running", lifecycle.isRunning());
        if (lifecycle.isRunning()) {
            Broker broker = lifecycle.broker();
            Map<String, Object> bound = new LinkedHashMap<>();
            broker.listeners()
                    .forEach((name, address) ->
                            bound.put(name, address.getAddress().getHostAddress() + ":" + address.getPort()));
            summary.put("listeners", bound);
            Totals totals = new Totals();
            clients().doOnNext(totals::client).then().block(PATIENCE);
            lifecycle.subscriptions(totals::subscription);
            summary.put("sessions", totals.sessions);
            summary.put("connected", totals.connected);
            summary.put("subscriptions", totals.subscriptions);
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
        int most = Math.max(1, Math.min(limit == null ? DEFAULT_LIMIT : limit, MOST));
        String contained = match == null ? "" : match;
        return switch (part) {
            case "clients" -> {
                Page<ClientInfo> page = new Page<>(most, SmqttEndpoint::client);
                clients()
                        .filter(one -> one.identity().clientId().contains(contained))
                        .doOnNext(page::add)
                        .then()
                        .block(PATIENCE);
                yield page.as(part);
            }
            case "subscriptions" -> {
                Page<Subscription> page = new Page<>(most, SmqttEndpoint::subscription);
                lifecycle.subscriptions(one -> {
                    if (one.filter().value().contains(contained)) {
                        page.add(one);
                    }
                });
                yield page.as(part);
            }
            case "listeners" -> {
                Page<ListenerMethod> page = new Page<>(most, SmqttEndpoint::listener);
                listeners.all().forEach(page::add);
                yield page.as(part);
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
    private Flux<ClientInfo> clients() {
        return lifecycle.isRunning()
                ? lifecycle
                        .broker()
                        .clients()
                        .filter(client ->
                                !InProcess.isReserved(client.identity().clientId()))
                : Flux.empty();
    }

    /** Three numbers of many things. For one thread. */
    private static final class Totals {

        private int sessions;
        private int connected;
        private int subscriptions;

        void client(ClientInfo client) {
            sessions++;
            connected += client.connected() ? 1 : 0;
        }

        void subscription(Subscription unused) {
            subscriptions++;
        }
    }

    private @Nullable Map<String, Object> client(String clientId) {
        ClientDetails details =
                lifecycle.isRunning() ? lifecycle.broker().client(clientId).block(PATIENCE) : null;
        if (details == null) {
            return null;
        }
        Map<String, Object> map = client(details.info());
        putText(map, "keepAlive", details.keepAlive());
        map.put(
                "sessionExpiry",
                details.sessionExpiry() == null
                        ? "never"
                        : details.sessionExpiry().toString());
        map.put("stored", details.stored());
        map.put("sendMaximum", details.sendMaximum());
        map.put("queuedBytes", details.queuedBytes());
        map.put(
                "subscriptions",
                details.subscriptions().stream()
                        .map(filter -> Map.of(
                                "filter", filter.filter(),
                                "qos", filter.maximumQos().level(),
                                "noLocal", filter.noLocal(),
                                "retainAsPublished", filter.retainAsPublished(),
                                "identifier", filter.identifier()))
                        .toList());
        return map;
    }

    private @Nullable Map<String, Object> explain(String topic, @Nullable String clientId) {
        if (!lifecycle.isRunning()) {
            return null;
        }
        Explanation explanation;
        try {
            explanation = lifecycle.broker().explain(topic, clientId).block(PATIENCE);
        } catch (InvalidTopicException e) {
            throw new InvalidEndpointRequestException(
                    String.valueOf(e.getMessage()), "Parameter topic is no topic name");
        }
        return explanation == null ? null : explanation(explanation);
    }

    private static Map<String, Object> explanation(Explanation explanation) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("topic", explanation.topic());
        putText(map, "clientId", explanation.clientId());
        map.put("publish", explanation.publish().name());
        map.put("retained", explanation.retained());
        map.put(
                "filters",
                explanation.filters().stream()
                        .map(filter -> Map.of(
                                "filter", filter.filter(), "path", filter.path(), "subscribers", filter.subscribers()))
                        .toList());
        map.put(
                "receivers",
                explanation.receivers().stream().map(SmqttEndpoint::receiver).toList());
        map.put(
                "groups",
                explanation.groups().stream()
                        .map(group -> Map.of(
                                "name", group.name(),
                                "filter", group.filter(),
                                "members", group.members(),
                                "online", group.online()))
                        .toList());
        map.put("nodes", explanation.nodes());
        map.put("moreReceivers", explanation.moreReceivers());
        return map;
    }

    private static Map<String, Object> receiver(Explanation.Receiver receiver) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("id", receiver.id());
        map.put("filters", receiver.filters());
        map.put("qos", receiver.maximumQos().level());
        map.put("online", receiver.online());
        map.put("receive", receiver.receive().name());
        map.put("inFlight", receiver.inFlight());
        map.put("queued", receiver.queued());
        map.put("outcome", receiver.outcome().name());
        putText(map, "reason", receiver.reason());
        return map;
    }

    private static void putText(Map<String, Object> map, String key, @Nullable Object value) {
        if (value != null) {
            map.put(key, value.toString());
        }
    }

    private static Map<String, Object> client(ClientInfo client) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("clientId", client.identity().clientId());
        if (client.identity().userName() != null) {
            map.put("userName", client.identity().userName());
        }
        map.put("connected", client.connected());
        map.put("address", String.valueOf(client.identity().remoteAddress()));
        map.put("listener", client.identity().listener());
        map.put("version", client.identity().version().name());
        map.put("bridge", client.identity().bridge());
        map.put("subscriptions", client.subscriptions());
        map.put("inFlight", client.inFlight());
        map.put("queued", client.queued());
        return map;
    }

    private static Map<String, Object> subscription(Subscription subscription) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("subscriber", subscription.subscriber().id());
        map.put("filter", subscription.filter().value());
        if (subscription.shareName() != null) {
            map.put("share", subscription.shareName());
        }
        map.put("qos", subscription.maximumQos().level());
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
