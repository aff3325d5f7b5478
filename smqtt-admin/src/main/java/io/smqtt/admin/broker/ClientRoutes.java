// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.session.InProcess;
import io.smqtt.spi.SubscribeRequest;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** {@code /clients}: the sessions of all nodes, their subscriptions, and what operators do with them. */
@AnyThread
public final class ClientRoutes implements RouteGroup {

    private static final String LIST = "clients.list";
    private static final String GET = "client.get";
    private static final String END = "client.end";
    private static final String END_SEVERAL = "client.end_several";
    private static final String SUBSCRIPTIONS = "client.subscriptions";
    private static final String SUBSCRIBE = "client.subscribe";
    private static final String UNSUBSCRIBE = "client.unsubscribe";
    private static final int MOST_AT_ONCE = 1_000;

    private final BrokerView view;
    private final NodeCalls calls;
    private final ClientMessages messages;

    /**
     * Creates the routes.
     *
     * @param view the broker
     * @param calls reaches the other nodes
     */
    public ClientRoutes(BrokerView view, NodeCalls calls) {
        this.view = view;
        this.calls = calls;
        messages = new ClientMessages(view, calls);
        calls.register(LIST, this::listHere);
        calls.register(GET, this::getHere);
        calls.register(END, this::endHere);
        calls.register(END_SEVERAL, this::endSeveralHere);
        calls.register(SUBSCRIPTIONS, this::subscriptionsHere);
        calls.register(SUBSCRIBE, this::subscribeHere);
        calls.register(UNSUBSCRIBE, this::unsubscribeHere);
    }

    @Override
    public List<Route> routes() {
        List<Route> all = new ArrayList<>(List.of(
                Route.get("/clients", Role.VIEWER, this::list),
                Route.post("/clients/kickout/bulk", Role.OPERATOR, this::endSeveral),
                Route.get("/clients/{clientid}", Role.VIEWER, this::get),
                Route.delete("/clients/{clientid}", Role.OPERATOR, this::end),
                Route.get("/clients/{clientid}/subscriptions", Role.VIEWER, this::subscriptions),
                Route.post("/clients/{clientid}/subscribe", Role.OPERATOR, this::subscribe),
                Route.post("/clients/{clientid}/subscribe/bulk", Role.OPERATOR, this::subscribeSeveral),
                Route.post("/clients/{clientid}/unsubscribe", Role.OPERATOR, this::unsubscribe),
                Route.post("/clients/{clientid}/unsubscribe/bulk", Role.OPERATOR, this::unsubscribeSeveral)));
        all.addAll(messages.routes());
        return all;
    }

    // --- asking all nodes

    /** The answer of the node that has the session; 404 if none has it, 503 if a node that may have it does not answer. */
    static Mono<Map<String, ?>> onItsNode(NodeCalls calls, String call, Map<String, ?> question) {
        return calls.askAll(call, question).map(answers -> {
            if (!answers.byNode().isEmpty()) {
                return answers.byNode().values().iterator().next();
            }
            if (!answers.incomplete().isEmpty()) {
                throw Problem.unavailable("not found on this node, and these did not answer: " + answers.incomplete())
                        .exception();
            }
            throw new Problem(404, "CLIENTID_NOT_FOUND", "Client ID not found").exception();
        });
    }

    private Mono<Map<String, ?>> onItsNode(String call, ApiRequest request, Map<String, ?> more) {
        Map<String, Object> question = new LinkedHashMap<>(more);
        question.put("clientid", request.path("clientid"));
        return onItsNode(calls, call, question);
    }

    /** Whether a client identifier is that of a consumer of the application, which the API does not show. */
    static boolean isForeign(JsonFields question) {
        return InProcess.isReserved(question.text("clientid"));
    }

    // --- list and detail

    private Mono<ApiAnswer> list(ApiRequest request) {
        Map<String, Object> filter = ClientFilter.of(request);
        String fields = request.query("fields");
        if (fields != null && !fields.equals("all")) {
            filter.put("fields", Arrays.asList(fields.split(",", -1)));
        }
        return ClusterList.answer(calls, LIST, request, filter);
    }

    private Mono<Map<String, Object>> listHere(JsonFields question) {
        Set<String> fields = question.has("fields") ? new TreeSet<>(question.texts("fields")) : Set.of();
        String node = view.nodeName();
        return view.clients(ClusterList.cut(question), ClientFilter.of(question))
                .map(found -> ClusterList.part(found, row -> {
                    Map<String, @Nullable Object> all = ClientFields.of(row, node, view.limits());
                    if (!fields.isEmpty()) {
                        all.keySet().retainAll(fields);
                    }
                    return all;
                }));
    }

    private Mono<ApiAnswer> get(ApiRequest request) {
        return onItsNode(GET, request, Map.of()).map(ApiAnswer::json);
    }

    private Mono<Map<String, @Nullable Object>> getHere(JsonFields question) {
        return view.row(question.text("clientid")).map(row -> ClientFields.of(row, view.nodeName(), view.limits()));
    }

    // --- kick

    private Mono<ApiAnswer> end(ApiRequest request) {
        Boolean keep = request.flag("keep_session");
        return onItsNode(END, request, Map.of("keep_session", Boolean.TRUE.equals(keep)))
                .thenReturn(ApiAnswer.noContent());
    }

    private Mono<Map<String, Object>> endHere(JsonFields question) {
        return isForeign(question)
                ? Mono.empty()
                : view.end(question.text("clientid"), question.flag("keep_session"))
                        .map(ended -> Map.of("ended", ended));
    }

    private Mono<ApiAnswer> endSeveral(ApiRequest request) {
        Map<String, List<String>> question = Map.of("clientids", request.texts(MOST_AT_ONCE));
        return calls.askAll(END_SEVERAL, question).map(answers -> {
            if (!answers.incomplete().isEmpty()) {
                throw Problem.unavailable(
                                "these did not answer, and may have some of the clients: " + answers.incomplete())
                        .exception();
            }
            return ApiAnswer.noContent();
        });
    }

    private Mono<Map<String, Object>> endSeveralHere(JsonFields question) {
        return Flux.fromIterable(question.texts("clientids"))
                .filter(client -> !InProcess.isReserved(client))
                .concatMap(client -> view.end(client, false))
                .count()
                .map(count -> Map.of("ended", count));
    }

    // --- subscriptions

    private Mono<ApiAnswer> subscriptions(ApiRequest request) {
        return onItsNode(SUBSCRIPTIONS, request, Map.of())
                .map(answer -> ApiAnswer.json(answer.get("rows") instanceof List<?> rows ? rows : List.of()));
    }

    private Mono<Map<String, Object>> subscriptionsHere(JsonFields question) {
        String node = view.nodeName();
        return isForeign(question)
                ? Mono.empty()
                : view.subscriptionsOf(question.text("clientid"))
                        .map(all -> Map.of(
                                "rows",
                                all.stream()
                                        .map(one -> ClientFields.of(one, node))
                                        .toList()));
    }

    private static SubscribeRequest subscription(JsonFields fields) {
        String topic = fields.text("topic");
        SharedFilter shared = SharedFilter.isShared(topic) ? SharedFilter.of(topic) : null;
        boolean noLocal = flag(fields, "nl");
        if (noLocal && shared != null) {
            throw Problem.badRequest("nl must be 0 for a shared subscription").exception();
        }
        return new SubscribeRequest(
                shared == null ? TopicFilter.of(topic) : shared.filter(),
                shared == null ? null : shared.shareName(),
                QoS.of((int) number(fields, "qos", 2)),
                noLocal,
                flag(fields, "rap"),
                (int) number(fields, "rh", 2));
    }

    private static long number(JsonFields fields, String name, long most) {
        return fields.has(name) ? fields.number(name, 0, most) : 0;
    }

    private static boolean flag(JsonFields fields, String name) {
        return number(fields, name, 1) == 1;
    }

    private Mono<ApiAnswer> subscribe(ApiRequest request) {
        JsonFields fields = request.fields();
        subscription(fields); // refuses what is wrong on this node
        return onItsNode(SUBSCRIBE, request, Map.of("subscriptions", List.of(fields.toMap())))
                .map(answer -> ApiAnswer.json(
                        answer.get("rows") instanceof List<?> rows && !rows.isEmpty() ? rows.get(0) : Map.of()));
    }

    private Mono<ApiAnswer> subscribeSeveral(ApiRequest request) {
        List<JsonFields> all = request.array(MOST_AT_ONCE);
        all.forEach(ClientRoutes::subscription);
        return onItsNode(
                        SUBSCRIBE,
                        request,
                        Map.of(
                                "subscriptions",
                                all.stream().map(JsonFields::toMap).toList()))
                .map(answer -> ApiAnswer.json(answer.get("rows") instanceof List<?> rows ? rows : List.of()));
    }

    private Mono<Map<String, Object>> subscribeHere(JsonFields question) {
        String clientId = question.text("clientid");
        if (isForeign(question)) {
            return Mono.empty();
        }
        List<SubscribeRequest> wanted = new ArrayList<>();
        question.elements("subscriptions").forEach(one -> wanted.add(subscription(new JsonFields(one))));
        return view.row(clientId)
                .flatMap(found -> Flux.fromIterable(wanted)
                        .concatMap(one -> view.subscribe(clientId, one).map(reason -> granted(clientId, one, reason)))
                        .collectList()
                        .map(rows -> Map.of("rows", rows)));
    }

    private Map<String, Object> granted(String clientId, SubscribeRequest request, ReasonCode reason) {
        if (reason.isError()) {
            throw new Problem(400, "QUOTA_EXCEEDED", "a limit of subscriptions does not allow this one").exception();
        }
        String share = request.shareName();
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("node", view.nodeName());
        all.put("clientid", clientId);
        all.put(
                "topic",
                share == null ? request.filter().value() : new SharedFilter(share, request.filter()).toString());
        all.put("qos", reason.value());
        all.put("nl", request.noLocal() ? 1 : 0);
        all.put("rap", request.retainAsPublished() ? 1 : 0);
        all.put("rh", request.retainHandling());
        return all;
    }

    private Mono<ApiAnswer> unsubscribe(ApiRequest request) {
        return unsubscribe(request, List.of(filter(request.fields())));
    }

    private Mono<ApiAnswer> unsubscribeSeveral(ApiRequest request) {
        return unsubscribe(
                request,
                request.array(MOST_AT_ONCE).stream().map(ClientRoutes::filter).toList());
    }

    private static String filter(JsonFields fields) {
        return SharedFilter.isShared(fields.text("topic"))
                ? SharedFilter.of(fields.text("topic")).toString()
                : TopicFilter.of(fields.text("topic")).value();
    }

    private Mono<ApiAnswer> unsubscribe(ApiRequest request, List<String> filters) {
        return onItsNode(UNSUBSCRIBE, request, Map.of("filters", filters)).thenReturn(ApiAnswer.noContent());
    }

    private Mono<Map<String, Object>> unsubscribeHere(JsonFields question) {
        String clientId = question.text("clientid");
        if (isForeign(question)) {
            return Mono.empty();
        }
        return view.row(clientId)
                .flatMap(found -> Flux.fromIterable(question.texts("filters"))
                        .concatMap(text -> {
                            SharedFilter shared = SharedFilter.isShared(text) ? SharedFilter.of(text) : null;
                            return shared == null
                                    ? view.unsubscribe(clientId, TopicFilter.of(text), null)
                                    : view.unsubscribe(clientId, shared.filter(), shared.shareName());
                        })
                        .collectList()
                        .map(removed -> Map.of("removed", removed)));
    }
}
