// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.SharedGroupInfo;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** {@code /shared_groups}: the shared groups of all nodes with their members and with the messages that wait for these. */
@AnyThread
public final class SharedGroupRoutes implements RouteGroup {

    private static final String LIST = "shared_groups.list";
    private static final String SHARE_GROUP = "share_group";
    private static final String TOPIC = "topic";

    private final BrokerView view;
    private final NodeCalls calls;

    /**
     * Creates the routes.
     *
     * @param view the broker
     * @param calls reaches the other nodes
     */
    public SharedGroupRoutes(BrokerView view, NodeCalls calls) {
        this.view = view;
        this.calls = calls;
        calls.register(LIST, this::listHere);
    }

    @Override
    public List<Route> routes() {
        return List.of(Route.get("/shared_groups", Role.VIEWER, this::list));
    }

    private Mono<ApiAnswer> list(ApiRequest request) {
        Map<String, Object> filter = new LinkedHashMap<>();
        for (String name : List.of(SHARE_GROUP, TOPIC)) {
            String value = request.query(name);
            if (value != null) {
                filter.put(name, value);
            }
        }
        return ClusterList.answer(calls, LIST, request, filter);
    }

    private Mono<Map<String, Object>> listHere(JsonFields question) {
        String node = view.nodeName();
        return view.sharedGroups(ClusterList.cut(question), filter(question))
                .map(found -> ClusterList.part(found, group -> fields(group, node)));
    }

    private static Predicate<SharedFilter> filter(JsonFields question) {
        String share = question.textOrNull(SHARE_GROUP);
        String topic = question.textOrNull(TOPIC);
        return one -> (share == null || share.equals(one.shareName()))
                && (topic == null || topic.equals(one.filter().value()));
    }

    private static Map<String, @Nullable Object> fields(SharedGroupInfo group, String node) {
        Long since = group.waitingSinceMillis();
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("node", node);
        all.put(SHARE_GROUP, group.shareName());
        all.put(TOPIC, group.filter());
        all.put("members", group.members());
        all.put("members_online", group.online());
        all.put("members_inflight", group.inFlight());
        all.put("mqueue_len", group.waiting());
        all.put("mqueue_bytes", group.bytes());
        if (since != null) {
            all.put("waiting_since", Instant.ofEpochMilli(since).toString());
        }
        return all;
    }
}
