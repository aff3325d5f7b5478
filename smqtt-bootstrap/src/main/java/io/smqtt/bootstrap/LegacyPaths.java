// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.util.NetUtil;
import io.smqtt.ClientInfo;
import io.smqtt.admin.BrokerView;
import io.smqtt.admin.ManagementEndpoint;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.topic.TopicName;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The management paths that scripts for the former smqtt call, with the fields of its answers. Whoever has the token of the
 * management port may call them. What is asked of this node is told of this node.
 */
final class LegacyPaths implements ManagementEndpoint {

    static final String PREFIX = "/smqtt/";

    private static final int MOST_CLOSED = 1_000;
    private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

    private final BrokerView view;

    LegacyPaths(BrokerView view) {
        this.view = view;
    }

    @Override
    public Mono<Answer> answer(Request request) {
        if (!view.isRunning()) {
            return Mono.just(Answer.STARTING);
        }
        try {
            return switch (request.method() + " " + request.path()) {
                case "POST /smqtt/publish" -> publish(object(request.body()));
                case "POST /smqtt/connection", "GET /smqtt/connection" -> connections();
                case "POST /smqtt/close/connection" -> close(object(request.body()));
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
        } catch (JsonProcessingException e) {
            return refused("the body is no JSON");
        } catch (BadDataException | IllegalArgumentException e) {
            return refused(String.valueOf(e.getMessage()));
        }
    }

    private static Mono<Answer> refused(String why) {
        return Mono.just(Answer.text(400, why + "\n"));
    }

    private static JsonFields object(String body) throws JsonProcessingException {
        JsonNode node = Json.MAPPER.readTree(body);
        if (node == null || !node.isObject()) {
            throw new BadDataException("the body must be one JSON object");
        }
        return new JsonFields(node);
    }

    /** {@code {"topic": …, "qos": 0, "retain": false, "message": …}}; qos and retain may be missing, as before. */
    private Mono<Answer> publish(JsonFields fields) {
        String topic = fields.text("topic");
        if (topic.startsWith("$")) {
            throw new BadDataException("topics that begin with $ are the broker's own");
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
            throw new BadDataException("the topic has more bytes than limits.max-topic-bytes allows");
        }
        long levels = 1 + topic.value().chars().filter(c -> c == '/').count();
        if (levels > limits.maxTopicLevels()) {
            throw new BadDataException("the topic has more levels than limits.max-topic-levels allows");
        }
    }

    private Mono<Answer> connections() {
        return view.clients(BrokerView.MAX_ENTRIES, client -> true).map(page -> {
            ArrayNode told = JsonNodeFactory.instance.arrayNode();
            page.shown().forEach(client -> add(told, client));
            return Answer.json(told.toString());
        });
    }

    private static void add(ArrayNode all, ClientInfo client) {
        ObjectNode node = all.addObject();
        node.put("clientIdentifier", client.identity().clientId());
        node.put("status", client.connected() ? "ONLINE" : "OFFLINE");
        node.put("username", client.identity().userName());
        node.put("address", NetUtil.toSocketAddressString(client.identity().remoteAddress()));
    }

    /** {@code {"ids": [clientIdentifier, …]}}. */
    private Mono<Answer> close(JsonFields fields) {
        List<String> ids = new ArrayList<>();
        for (JsonNode id : fields.elements("ids")) {
            if (!id.isTextual() || ids.size() == MOST_CLOSED) {
                throw new BadDataException("ids must be at most " + MOST_CLOSED + " texts");
            }
            ids.add(id.textValue());
        }
        return Flux.fromIterable(ids)
                .concatMap(view.broker()::disconnect)
                .filter(closed -> closed)
                .count()
                .map(closed -> Answer.json("{\"closed\":" + closed + "}"));
    }

    private String nodes() {
        ArrayNode all = JsonNodeFactory.instance.arrayNode();
        ClusterStatus status = view.clusterStatus();
        if (status != null) {
            add(all, status.self());
            status.peers().stream().filter(ClusterStatus.PeerStatus::reachable).forEach(peer -> add(all, peer.node()));
        }
        return all.toString();
    }

    private static void add(ArrayNode all, ClusterStatus.Node node) {
        int colon = node.address().lastIndexOf(':');
        ObjectNode shown = all.addObject();
        shown.put("alias", node.nodeId());
        shown.put("host", colon < 0 ? node.address() : node.address().substring(0, colon));
        shown.put("port", colon < 0 ? 0 : Integer.parseInt(node.address().substring(colon + 1)));
        shown.put("namespace", "");
    }
}
