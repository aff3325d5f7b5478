// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.session.WaitingMessage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * {@code mqueue_messages} and {@code inflight_messages} of a client: the oldest ones. They are not paged, since a queue changes with each
 * message.
 */
final class ClientMessages {

    private static final String CALL = "client.messages";
    private static final int MOST = 1_000;
    private static final int DEFAULT_LIMIT = 100;
    private static final int MAX_PAYLOAD_BYTES = 1 << 20;

    private final BrokerView view;
    private final NodeCalls calls;

    ClientMessages(BrokerView view, NodeCalls calls) {
        this.view = view;
        this.calls = calls;
        calls.register(CALL, this::here);
    }

    List<Route> routes() {
        return List.of(
                Route.get("/clients/{clientid}/mqueue_messages", Role.VIEWER, request -> answer(request, false)),
                Route.get("/clients/{clientid}/inflight_messages", Role.VIEWER, request -> answer(request, true)));
    }

    private Mono<ApiAnswer> answer(ApiRequest request, boolean inFlight) {
        Map<String, Object> question = new LinkedHashMap<>();
        question.put("clientid", request.path("clientid"));
        question.put("in_flight", inFlight);
        question.put("limit", request.number("limit", DEFAULT_LIMIT, 1, MOST));
        question.put("payload", encoding(request.query("payload")).name());
        question.put("max_payload_bytes", request.number("max_payload_bytes", MAX_PAYLOAD_BYTES, 1, MAX_PAYLOAD_BYTES));
        return ClientRoutes.onItsNode(calls, CALL, question).map(ApiAnswer::json);
    }

    private static MessageFields.Encoding encoding(@Nullable String text) {
        if (text == null) {
            return MessageFields.Encoding.BASE64;
        }
        for (MessageFields.Encoding encoding : MessageFields.Encoding.values()) {
            if (encoding.name().toLowerCase(Locale.ROOT).equals(text)) {
                return encoding;
            }
        }
        throw Problem.badRequest("the parameter payload must be none, base64 or plain")
                .exception();
    }

    private Mono<Map<String, Object>> here(JsonFields question) {
        if (ClientRoutes.isForeign(question)) {
            return Mono.empty();
        }
        MessageFields.Encoding encoding = MessageFields.Encoding.valueOf(question.text("payload"));
        int most = (int) question.number("limit", 1, MOST);
        long room = question.number("max_payload_bytes", 1, MAX_PAYLOAD_BYTES);
        return view.messagesOf(question.text("clientid"), question.flag("in_flight"), most)
                .map(found -> fields(found, encoding, room));
    }

    private Map<String, Object> fields(List<WaitingMessage> found, MessageFields.Encoding encoding, long most) {
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        long room = most;
        for (WaitingMessage waiting : found) {
            ApplicationMessage message = waiting.message();
            Map<String, @Nullable Object> row =
                    MessageFields.of(message, waiting.qos().level(), view.acceptedAtMillis(message));
            if (waiting.packetId() > 0) {
                row.put("packet_id", waiting.packetId());
            }
            room -= message.payload().size();
            if (encoding != MessageFields.Encoding.NONE && room >= 0) {
                row.put("payload", MessageFields.text(message.payload(), encoding));
            }
            rows.add(row);
        }
        return Map.of("data", rows, "meta", Map.of("count", rows.size()));
    }
}
