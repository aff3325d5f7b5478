// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.netty.handler.codec.http.QueryStringDecoder;
import io.smqtt.topic.InvalidTopicException;
import java.util.HashMap;
import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * HTTP paths behind {@code bin/smqtt ctl}: list sessions, show one, explain a message, end a connection. Of this node.
 * JSON, or text for people. Whoever has the token of the management port may ask. Parameters may also be the form in the
 * body of a POST: identifiers and topics can be longer than the line of a request.
 */
final class ControlPaths implements ManagementEndpoint {

    static final String PREFIX = "/broker/";

    private static final int DEFAULT_LIMIT = 100;

    private final BrokerView view;

    ControlPaths(BrokerView view) {
        this.view = view;
    }

    @Override
    public Mono<Answer> answer(Request sent) {
        if (!view.isRunning()) {
            return Mono.just(Answer.STARTING);
        }
        try {
            Request request = withForm(sent);
            return switch (request.path()) {
                case "/broker/clients" -> clients(request);
                case "/broker/client" -> client(request);
                case "/broker/explain" -> explain(request);
                case "/broker/disconnect" ->
                    request.method().equals("POST") ? disconnect(request) : Mono.just(Answer.text(405, "only POST\n"));
                default ->
                    Mono.just(Answer.text(
                            404, "no such path; there are clients, client, explain and disconnect below /broker/\n"));
            };
        } catch (InvalidTopicException | BadParameterException e) {
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
            throw new BadParameterException("the form is not encoded as it must be");
        }
        return new Request(request.method(), request.path(), parameters, request.forPeople(), "");
    }

    private static String required(Request request, String name) {
        String value = request.parameters().get(name);
        if (value == null || value.isEmpty()) {
            throw new BadParameterException("the parameter " + name + " is missing");
        }
        return value;
    }

    private static int limit(Request request) {
        String text = request.parameters().get("limit");
        try {
            int limit = text == null ? DEFAULT_LIMIT : Integer.parseInt(text);
            if (limit >= 1 && limit <= BrokerView.MAX_ENTRIES) {
                return limit;
            }
        } catch (NumberFormatException e) {
            // told below
        }
        throw new BadParameterException("the parameter limit must be an integer, 1 to " + BrokerView.MAX_ENTRIES);
    }

    /** A parameter is missing or cannot be used; the message is for people. */
    private static final class BadParameterException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        BadParameterException(String message) {
            super(message);
        }
    }

    private Mono<Answer> clients(Request request) {
        String match = request.parameters().getOrDefault("match", "");
        return view.clients(
                        limit(request), client -> client.identity().clientId().contains(match))
                .map(page -> request.forPeople()
                        ? text(PlainText.of(page))
                        : Answer.json(Fields.of("clients", page, Fields::of)));
    }

    private Mono<Answer> client(Request request) {
        return view.client(required(request, "id"))
                .map(found -> request.forPeople()
                        ? text(PlainText.ofClient(found))
                        : Answer.json(Fields.of(found, Fields::of)))
                .defaultIfEmpty(Answer.text(404, "there is no such session on this node\n"));
    }

    private Mono<Answer> explain(Request request) {
        return view.explain(required(request, "topic"), request.parameters().get("client"))
                .map(found -> request.forPeople()
                        ? text(PlainText.ofExplanation(found))
                        : Answer.json(Fields.of(found, Fields::of)));
    }

    private Mono<Answer> disconnect(Request request) {
        return view.broker().disconnect(required(request, "id")).map(was -> {
            if (!was) {
                return Answer.text(404, "no such client is connected to this node\n");
            }
            return request.forPeople() ? text("disconnected\n") : Answer.json(Map.of("disconnected", true));
        });
    }

    private static Answer text(String lines) {
        return Answer.text(200, lines);
    }
}
