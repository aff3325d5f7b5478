// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.api.Problem;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.spi.Bridges;
import io.smqtt.spi.Bridges.Operation;
import io.smqtt.thread.AnyThread;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** {@code /bridges}: the bridges of all nodes, by identifiers such as {@code mqtt:cloud}. */
@AnyThread
public final class BridgeRoutes extends NodeObjectRoutes<Operation> {

    private static final String TYPE = "mqtt:";

    private final BrokerView view;

    /**
     * Creates the routes.
     *
     * @param view the broker
     * @param calls reaches the other nodes
     */
    public BridgeRoutes(BrokerView view, NodeCalls calls) {
        super(
                calls,
                "bridge",
                Operation.class,
                List.of("sent", "received", "resent", "queuing", "dropped", "refused", "received_dropped"));
        this.view = view;
    }

    @Override
    protected List<Map<String, Object>> here() {
        Bridges bridges = view.bridgesHere();
        return bridges == null
                ? List.of()
                : bridges.status().stream().map(BridgeRoutes::fields).toList();
    }

    private static Map<String, Object> fields(BridgeStatus bridge) {
        Map<String, Object> metrics = new LinkedHashMap<>();
        metrics.put("sent", bridge.sent());
        metrics.put("received", bridge.received());
        metrics.put("resent", bridge.resent());
        metrics.put("queuing", bridge.queued());
        metrics.put("dropped", bridge.dropped());
        metrics.put("refused", bridge.refused());
        metrics.put("received_dropped", bridge.receivedDropped());
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("name", bridge.name());
        all.put("status", bridge.state().name().toLowerCase(Locale.ROOT));
        all.put("server", bridge.address());
        all.put("since", bridge.since().toString());
        if (bridge.lastError() != null) {
            all.put("status_reason", bridge.lastError());
        }
        if (bridge.rttNanos() > 0) {
            all.put("rtt_ms", Math.rint(bridge.rttNanos() / 1e3) / 1e3);
        }
        all.put(METRICS, metrics);
        return all;
    }

    @Override
    protected boolean operate(String name, Operation operation) {
        Bridges bridges = view.bridgesHere();
        return bridges != null && bridges.operate(name, operation);
    }

    @Override
    protected Map<String, Object> identity(String name, Map<String, Object> onNode) {
        Map<String, Object> identity = new LinkedHashMap<>();
        identity.put("id", TYPE + name);
        identity.put("type", "mqtt");
        identity.put("name", name);
        identity.put("enable", true);
        return identity;
    }

    @Override
    protected String name(String id) {
        return id.startsWith(TYPE) ? id.substring(TYPE.length()) : id;
    }

    @Override
    protected Problem missing() {
        return new Problem(404, "NOT_FOUND", "Bridge id not found");
    }
}
