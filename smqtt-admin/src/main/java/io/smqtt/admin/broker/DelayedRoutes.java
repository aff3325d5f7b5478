// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.ListRoom;
import io.smqtt.admin.Slice;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.session.DelayedMessage;
import io.smqtt.session.DelayedMessages;
import io.smqtt.thread.AnyThread;
import java.time.Instant;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** {@code /mqtt/delayed/messages}: messages that are published later, each on the node that has accepted it, in the order of their time. */
@AnyThread
public final class DelayedRoutes implements RouteGroup {

    private static final String LIST = "delayed.list";
    private static final String SHOW = "delayed.show";
    private static final String CANCEL = "delayed.cancel";
    private static final String ID = "msgid";
    private static final int DIGITS = 16;

    private final BrokerView view;
    private final NodeCalls calls;

    /**
     * Creates the routes.
     *
     * @param view the broker
     * @param calls reaches the other nodes
     */
    public DelayedRoutes(BrokerView view, NodeCalls calls) {
        this.view = view;
        this.calls = calls;
        calls.register(LIST, this::listHere);
        calls.register(SHOW, this::showHere);
        calls.register(CANCEL, this::cancelHere);
    }

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get("/mqtt/delayed/messages", Role.VIEWER, this::list),
                Route.get("/mqtt/delayed/messages/{node}/{msgid}", Role.VIEWER, this::show),
                Route.delete("/mqtt/delayed/messages/{node}/{msgid}", Role.OPERATOR, this::cancel));
    }

    // --- lists

    private Mono<ApiAnswer> list(ApiRequest request) {
        if (request.query("cursor") != null) {
            throw Problem.badRequest("this list has pages and no cursor").exception();
        }
        return ClusterList.answer(calls, LIST, request, Map.of());
    }

    private Mono<Map<String, Object>> listHere(JsonFields question) {
        DelayedMessages messages = view.delayed();
        int skip = ClusterList.cut(question).skip();
        int limit = ClusterList.cut(question).limit();
        return view.onListThread(() -> {
            List<DelayedMessage> found = messages.list(skip, limit);
            List<DelayedMessage> rows = found.subList(0, ListRoom.fitting(found, DelayedRoutes::bytes));
            int total = (int) Math.min(Integer.MAX_VALUE, messages.count());
            boolean shortened = rows.size() < found.size();
            return ClusterList.part(new Slice<>(total, rows, 0, skip + rows.size() < total, shortened), this::fields);
        });
    }

    private static long bytes(DelayedMessage delayed) {
        return ListRoom.bytes(
                delayed.message().topic().value(), delayed.message().publisherId());
    }

    private Map<String, @Nullable Object> fields(DelayedMessage delayed) {
        long nowMillis = System.currentTimeMillis();
        long dueMillis = view.acceptedAtMillis(delayed.message());
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put(ID, HexFormat.of().toHexDigits(delayed.message().id()));
        all.put("node", view.nodeName());
        all.put("topic", delayed.message().topic().value());
        all.put("qos", delayed.message().qos().level());
        all.put("from_clientid", delayed.message().publisherId());
        all.put("payload_size", delayed.message().payload().size());
        if (delayed.delaySeconds() > 0) {
            all.put("delayed_interval", delayed.delaySeconds());
            all.put("publish_at", text(dueMillis - TimeUnit.SECONDS.toMillis(delayed.delaySeconds())));
        }
        all.put("delayed_remaining", Math.max(0, TimeUnit.MILLISECONDS.toSeconds(dueMillis - nowMillis)));
        all.put("expected_at", text(dueMillis));
        return all;
    }

    private static String text(long millis) {
        return Instant.ofEpochMilli(millis).toString();
    }

    // --- one message

    private static Map<String, Object> question(ApiRequest request) {
        String id = request.path(ID);
        if (id.length() != DIGITS || !id.chars().allMatch(HexFormat::isHexDigit)) {
            throw new Problem(400, "MESSAGE_ID_SCHEMA_ERROR", "the identifier of a message has 16 hexadecimal digits")
                    .exception();
        }
        return Map.of(ID, id);
    }

    private static Problem missing() {
        return new Problem(404, "MESSAGE_ID_NOT_FOUND", "no such message waits");
    }

    private Mono<DelayedMessage> find(JsonFields question) {
        DelayedMessages messages = view.delayed();
        long id = HexFormat.fromHexDigitsToLong(question.text(ID));
        return view.onListThread(() -> {
            DelayedMessage found = messages.find(id);
            if (found == null) {
                throw missing().exception();
            }
            return found;
        });
    }

    private Mono<ApiAnswer> show(ApiRequest request) {
        return calls.askOne(request.path("node"), SHOW, question(request)).map(ApiAnswer::json);
    }

    private Mono<Map<String, @Nullable Object>> showHere(JsonFields question) {
        return find(question).map(found -> {
            Map<String, @Nullable Object> all = fields(found);
            all.put("payload", MessageFields.text(found.message().payload(), MessageFields.Encoding.BASE64));
            return all;
        });
    }

    private Mono<ApiAnswer> cancel(ApiRequest request) {
        return calls.askOne(request.path("node"), CANCEL, question(request)).thenReturn(ApiAnswer.noContent());
    }

    private Mono<Map<String, Object>> cancelHere(JsonFields question) {
        return find(question)
                .flatMap(found -> view.delayed().cancel(found))
                .onErrorMap(
                        IllegalStateException.class,
                        error -> Problem.unavailable(String.valueOf(error.getMessage()))
                                .exception())
                .map(cancelled -> {
                    if (!cancelled) {
                        throw missing().exception();
                    }
                    return Map.of("cancelled", true);
                });
    }
}
