// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate.legacy;

import com.fasterxml.jackson.databind.JsonNode;
import io.netty.util.NetUtil;
import io.smqtt.ClientInfo;
import io.smqtt.admin.BrokerView;
import io.smqtt.admin.Cut;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.ManagementEndpoint;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.topic.TopicName;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The management paths that scripts for the former smqtt call, with the fields of its answers. Whoever has the token of the
 * management port may call them. What is asked of this node is told of this node.
 */
public final class LegacyPaths implements ManagementEndpoint {

    /** What all of these paths begin with. */
    public static final String PREFIX = "/smqtt/";

    private static final int MOST_CLOSED = 1_000;
    private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

    private final BrokerView view;

    /**
     * Creates the paths of one broker.
     *
     * @param view what is shown, and changed
     */
    public LegacyPaths(BrokerView view) {
        this.view = view;
    }

    @Override
    public Mono<Answer> answer(Request request) {
        if (!view.isRunning()) {
            return Mono.just(Answer.STARTING);
        }
        try {
            return switch (request.method() + " " + request.path()) {
                case "POST /smqtt/publish" -> publish(JsonFields.parse(request.body()));
                case "POST /smqtt/connection", "GET /smqtt/connection" -> connections();
                case "POST /smqtt/close/connection" -> close(JsonFields.parse(request.body()));
                case "GET /smqtt/is/cluster" ->
                    Mono.just(Answer.text(200, String.valueOf(view.clusterStatus() != null)));
                case "POST /smqtt/cluster", "GET /smqtt/cluster" -> Mono.just(Answer.json(nodes()));
                case "GET /smqtt/meter" ->
                    Mono.just(new Answer(200, PROMETHEUS, Objects.requireNonNullElse(view.scrape(), "")));
                default ->
                    Mono.just(Answer.text(
                            404,
                            "not one of the paths of the former smqtt that are answered: publish, "
                                    + "connection, close/connection, is/cluster, cluster, meter\n"));
            };
        } catch (IllegalArgumentException e) {
            return Mono.just(Answer.text(400, e.getMessage() + "\n"));
        }
    }

    /** {@code {"topic": …, "qos": 0, "retain": false, "message": …}}; qos and retain may be missing, as before. */
    private Mono<Answer> publish(JsonFields fields) {
        String topic = fields.text("topic");
        if (topic.startsWith("$")) {
            throw new IllegalArgumentException("topics that begin with $ are the broker's own");
        }
        ApplicationMessage message = ApplicationMessage.builder(topic)
                .payload(fields.text("message"))
                .qos(QoS.values()[fields.has("qos") ? (int) fields.number("qos", 0, 2) : 0])
                .retain(fields.has("retain") && fields.flag("retain"))
                .build();
        requireWithinLimits(message.topic());
        return view.broker().publish(message).thenReturn(Answer.text(200, "success"));
    }

    /** The limits that hold for clients, who may not be able to subscribe to it otherwise. */
    private void requireWithinLimits(TopicName topic) {
        LimitsConfig limits = view.limits();
        if (topic.utf8().length > limits.maxTopicBytes()) {
            throw new IllegalArgumentException("the topic has more bytes than limits.max-topic-bytes allows");
        }
        long levels = 1 + topic.value().chars().filter(c -> c == '/').count();
        if (levels > limits.maxTopicLevels()) {
            throw new IllegalArgumentException("the topic has more levels than limits.max-topic-levels allows");
        }
    }

    private Mono<Answer> connections() {
        return view.clients(new Cut(Cut.START, 0, BrokerView.MAX_ENTRIES), client -> true)
                .map(found -> Answer.json(
                        found.rows().stream().map(row -> fields(row.info())).toList()));
    }

    private static Map<String, @Nullable Object> fields(ClientInfo client) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("clientIdentifier", client.identity().clientId());
        fields.put("status", client.connected() ? "ONLINE" : "OFFLINE");
        fields.put("username", client.identity().userName());
        fields.put("address", NetUtil.toSocketAddressString(client.identity().remoteAddress()));
        return fields;
    }

    /** {@code {"ids": [clientIdentifier, …]}}. */
    private Mono<Answer> close(JsonFields fields) {
        List<String> ids = new ArrayList<>();
        for (JsonNode id : fields.elements("ids")) {
            if (!id.isTextual() || ids.size() == MOST_CLOSED) {
                throw new IllegalArgumentException("ids must be at most " + MOST_CLOSED + " texts");
            }
            ids.add(id.textValue());
        }
        return Flux.fromIterable(ids)
                .concatMap(view.broker()::disconnect)
                .filter(closed -> closed)
                .count()
                .map(closed -> Answer.json(Map.of("closed", closed)));
    }

    private List<Map<String, Object>> nodes() {
        List<Map<String, Object>> all = new ArrayList<>();
        ClusterStatus status = view.clusterStatus();
        if (status != null) {
            all.add(fields(status.self()));
            status.peers().stream()
                    .filter(ClusterStatus.PeerStatus::reachable)
                    .forEach(peer -> all.add(fields(peer.node())));
        }
        return all;
    }

    private static Map<String, Object> fields(ClusterStatus.Node node) {
        int colon = node.address().lastIndexOf(':');
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("alias", node.nodeId());
        fields.put("host", colon < 0 ? node.address() : node.address().substring(0, colon));
        fields.put("port", colon < 0 ? 0 : Integer.parseInt(node.address().substring(colon + 1)));
        fields.put("namespace", "");
        return fields;
    }
}
