// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.util.NetUtil;
import io.smqtt.Broker;
import io.smqtt.ClientDetails;
import io.smqtt.ClientInfo;
import io.smqtt.Explanation;
import io.smqtt.metric.ManagementEndpoint;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.topic.InvalidTopicException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * HTTP paths behind {@code bin/smqtt ctl}: list sessions, show one, explain a message, end a connection. Of this node.
 * JSON, or text for people. Whoever has the token of the management port may ask. Parameters may also be the form in the
 * body of a POST: identifiers and topics can be longer than the line of a request.
 */
final class ControlPaths implements ManagementEndpoint {

    static final String PREFIX = "/broker/";

    /** Sessions in one answer, at most. */
    static final int MOST = 10_000;

    /** Bytes of one answer, at most: clients choose identifiers, user names and filters of up to 64 KiB. */
    static final int MOST_BYTES = 8 << 20;

    /** Of a session as JSON, without the texts that its client chose. */
    private static final int SESSION_BYTES = 300;

    private static final int DEFAULT_LIMIT = 100;
    private static final Mono<Answer> STARTING = Mono.just(Answer.text(503, "the broker is starting\n"));

    private volatile @Nullable Broker broker;

    /** From now on requests are answered. */
    void serve(Broker running) {
        broker = running;
    }

    @Override
    public Mono<Answer> answer(Request sent) {
        Broker running = broker;
        if (running == null) {
            return STARTING;
        }
        try {
            Request request = withForm(sent);
            return switch (request.path()) {
                case "/broker/clients" -> clients(running, request);
                case "/broker/client" -> client(running, request);
                case "/broker/explain" -> explain(running, request);
                case "/broker/disconnect" ->
                    request.method().equals("POST")
                            ? disconnect(running, request)
                            : Mono.just(Answer.text(405, "only POST\n"));
                default ->
                    Mono.just(Answer.text(
                            404, "no such path; there are clients, client, explain and disconnect below /broker/\n"));
            };
        } catch (InvalidTopicException | BadDataException e) {
            return Mono.just(Answer.text(400, e.getMessage() + "\n"));
        }
    }

    private static Request withForm(Request request) {
        if (request.body().isEmpty()) {
            return request;
        }
        Map<String, String> parameters = new HashMap<>(request.parameters());
        try {
            new QueryStringDecoder(request.body(), false)
                    .parameters()
                    .forEach((name, values) -> parameters.putIfAbsent(name, values.get(0)));
        } catch (IllegalArgumentException e) {
            throw new BadDataException("the form is not encoded as it must be");
        }
        return new Request(request.method(), request.path(), parameters, request.forPeople(), "");
    }

    private static String required(Request request, String name) {
        String value = request.parameters().get(name);
        if (value == null || value.isEmpty()) {
            throw new BadDataException("the parameter " + name + " is missing");
        }
        return value;
    }

    private static int limit(Request request) {
        String text = request.parameters().get("limit");
        try {
            int limit = text == null ? DEFAULT_LIMIT : Integer.parseInt(text);
            if (limit >= 1 && limit <= MOST) {
                return limit;
            }
        } catch (NumberFormatException e) {
            // told below
        }
        throw new BadDataException("the parameter limit must be an integer, 1 to " + MOST);
    }

    private static Mono<Answer> clients(Broker running, Request request) {
        int limit = limit(request);
        String match = request.parameters().getOrDefault("match", "");
        return running.clients()
                .filter(client -> client.identity().clientId().contains(match))
                .collect(() -> new Page(limit), Page::add)
                .map(page -> request.forPeople() ? text(ControlText.of(page)) : Answer.json(json(page)));
    }

    /** The first of many, and how many there are. */
    static final class Page {

        private final int limit;
        private final List<ClientInfo> shown = new ArrayList<>();
        private int total;

        Page(int limit) {
            this.limit = limit;
        }

        void add(ClientInfo client) {
            total++;
            if (shown.size() < limit) {
                shown.add(client);
            }
        }

        List<ClientInfo> shown() {
            return shown;
        }

        int total() {
            return total;
        }
    }

    private static Mono<Answer> client(Broker running, Request request) {
        String id = required(request, "id");
        return running.client(id)
                .map(found -> ControlCut.of(found, MOST_BYTES))
                .map(told -> request.forPeople()
                        ? text(ControlText.of(told.answer()) + told.line())
                        : Answer.json(json(told)))
                .defaultIfEmpty(Answer.text(404, "there is no such session on this node\n"));
    }

    private static Mono<Answer> explain(Broker running, Request request) {
        return running.explain(required(request, "topic"), request.parameters().get("client"))
                .map(found -> ControlCut.of(found, MOST_BYTES))
                .map(told -> request.forPeople() ? text(told.answer() + told.line()) : Answer.json(jsonOf(told)));
    }

    private static Mono<Answer> disconnect(Broker running, Request request) {
        return running.disconnect(required(request, "id")).map(was -> {
            if (!was) {
                return Answer.text(404, "no such client is connected to this node\n");
            }
            return request.forPeople() ? Answer.text(200, "disconnected\n") : Answer.json("{\"disconnected\":true}");
        });
    }

    private static Answer text(String lines) {
        return Answer.text(200, lines);
    }

    static String json(Page page) {
        List<ClientInfo> told = withinBytes(page.shown());
        ObjectNode root = Json.object().put("total", page.total());
        root.put("truncated", told.size() < page.shown().size());
        ArrayNode clients = root.putArray("clients");
        told.forEach(client -> put(clients.addObject(), client));
        return root.toString();
    }

    /** As many, from the first, as have room in an answer of JSON. */
    static List<ClientInfo> withinBytes(List<ClientInfo> clients) {
        long bytes = 0;
        for (int i = 0; i < clients.size(); i++) {
            ClientIdentity identity = clients.get(i).identity();
            bytes += SESSION_BYTES
                    + ControlCut.jsonBytes(identity.clientId())
                    + ControlCut.jsonBytes(identity.userName());
            if (bytes > MOST_BYTES) {
                return clients.subList(0, i);
            }
        }
        return clients;
    }

    private static void put(ObjectNode node, ClientInfo client) {
        node.put("clientId", client.identity().clientId());
        node.put("userName", client.identity().userName());
        node.put("connected", client.connected());
        node.put("address", NetUtil.toSocketAddressString(client.identity().remoteAddress()));
        node.put("listener", client.identity().listener());
        node.put("version", client.identity().version().name());
        node.put("bridge", client.identity().bridge());
        node.put("subscriptions", client.subscriptions());
        node.put("inFlight", client.inFlight());
        node.put("queued", client.queued());
    }

    /** Times in seconds; null for a client without keep alive, and for a session that never expires. */
    static String json(ControlCut.Told<ClientDetails> told) {
        ClientDetails details = told.answer();
        ObjectNode node = Json.object();
        put(node, details.info());
        node.put(
                "keepAliveSeconds",
                details.keepAlive() == null ? null : (Long) details.keepAlive().toSeconds());
        node.put(
                "sessionExpirySeconds",
                details.sessionExpiry() == null
                        ? null
                        : (Long) details.sessionExpiry().toSeconds());
        node.put("stored", details.stored());
        node.put("sendMaximum", details.sendMaximum());
        node.put("queuedBytes", details.queuedBytes());
        ArrayNode filters = node.putArray("filters");
        for (ClientDetails.Filter filter : details.subscriptions()) {
            ObjectNode one = filters.addObject();
            one.put("filter", filter.filter());
            one.put("qos", filter.maximumQos().level());
            one.put("noLocal", filter.noLocal());
            one.put("retainAsPublished", filter.retainAsPublished());
            one.put("identifier", filter.identifier());
        }
        told.put(node);
        return node.toString();
    }

    static String jsonOf(ControlCut.Told<Explanation> told) {
        Explanation explanation = told.answer();
        ObjectNode node = Json.object();
        node.put("topic", explanation.topic());
        node.put("clientId", explanation.clientId());
        node.put("publish", explanation.publish().name());
        node.put("retained", explanation.retained());
        ArrayNode filters = node.putArray("filters");
        for (Explanation.FilterMatch match : explanation.filters()) {
            ObjectNode one = filters.addObject().put("filter", match.filter());
            match.path().forEach(one.putArray("path")::add);
            one.put("subscribers", match.subscribers());
        }
        ArrayNode receivers = node.putArray("receivers");
        for (Explanation.Receiver receiver : explanation.receivers()) {
            ObjectNode one = receivers.addObject().put("id", receiver.id());
            receiver.filters().forEach(one.putArray("filters")::add);
            one.put("qos", receiver.maximumQos().level());
            one.put("online", receiver.online());
            one.put("receive", receiver.receive().name());
            one.put("inFlight", receiver.inFlight());
            one.put("queued", receiver.queued());
            one.put("outcome", receiver.outcome().name());
            one.put(
                    "reason",
                    receiver.reason() == null ? null : receiver.reason().name());
        }
        ArrayNode groups = node.putArray("groups");
        for (Explanation.Group group : explanation.groups()) {
            ObjectNode one = groups.addObject().put("name", group.name()).put("filter", group.filter());
            group.members().forEach(one.putArray("members")::add);
            one.put("online", group.online());
        }
        explanation.nodes().forEach(node.putArray("nodes")::add);
        node.put("moreReceivers", explanation.moreReceivers());
        told.put(node);
        return node.toString();
    }
}
