// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import com.sun.management.UnixOperatingSystemMXBean;
import io.smqtt.admin.BrokerView;
import io.smqtt.admin.NodeCounts;
import io.smqtt.admin.Scrape;
import io.smqtt.spi.BrokerFigures;
import io.smqtt.thread.AnyThread;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.lang.management.OperatingSystemMXBean;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The figures of this node, named as in other brokers' APIs. The API and the actuator endpoint show them. */
@AnyThread
public final class NodeFigures {

    private final BrokerView view;

    /**
     * Creates it.
     *
     * @param view the broker
     */
    public NodeFigures(BrokerView view) {
        this.view = view;
    }

    /**
     * Returns the state of the node: name, version, counts, and resources of the process.
     *
     * @return the fields, in their order; may be changed
     * @throws io.smqtt.BrokerClosedException if the broker does not run
     */
    public Map<String, @Nullable Object> node() {
        NodeCounts counts = view.counts();
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        OperatingSystemMXBean system = ManagementFactory.getOperatingSystemMXBean();
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("node", view.nodeName());
        all.put("node_status", "running");
        all.put("role", "core");
        all.put("version", view.version());
        all.put("uptime", ManagementFactory.getRuntimeMXBean().getUptime());
        all.put("connections", counts.sessions());
        all.put("live_connections", counts.connections());
        all.put("subscriptions", counts.subscriptions());
        all.put("memory_total", heap.getMax());
        all.put("memory_used", heap.getUsed());
        all.put("load1", Math.max(0, system.getSystemLoadAverage()));
        all.put("cpus", Runtime.getRuntime().availableProcessors());
        all.put("java", Runtime.version().toString());
        if (system instanceof UnixOperatingSystemMXBean unix) {
            all.put("max_fds", unix.getMaxFileDescriptorCount());
            all.put("used_fds", unix.getOpenFileDescriptorCount());
        }
        return all;
    }

    Map<String, Object> stats() {
        NodeCounts counts = view.counts();
        BrokerFigures figures = view.figures();
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("connections.count", counts.sessions());
        all.put("live_connections.count", counts.connections());
        all.put("sessions.count", counts.sessions());
        all.put("subscriptions.count", counts.subscriptions());
        all.put("subscriptions.shared.count", figures == null ? 0 : figures.sharedGroups());
        all.put("retained.count", counts.retained());
        return all;
    }

    Map<String, Object> metrics() {
        Map<String, Object> all = new LinkedHashMap<>();
        String lines = view.scrape();
        BrokerFigures figures = view.figures();
        if (lines == null || figures == null) {
            return all;
        }
        Scrape scrape = Scrape.parse(lines, System.nanoTime());
        all.put("bytes.received", view.traffic().receivedBytes());
        all.put("bytes.sent", view.traffic().sentBytes());
        all.put("packets.received", view.traffic().receivedPackets());
        all.put("packets.sent", view.traffic().sentPackets());
        all.put("messages.received", figures.received());
        all.put("messages.sent", figures.delivered());
        all.put("messages.publish", figures.received());
        all.put("messages.delivered", figures.delivered());
        all.put("messages.dropped", figures.droppedInAll());
        figures.dropped()
                .forEach((reason, count) ->
                        all.put("messages.dropped." + reason.name().toLowerCase(java.util.Locale.ROOT), count));
        all.put("client.connected", figures.accepted());
        all.put("client.disconnected", sum(scrape, "smqtt_connections_closed_total"));
        all.put("client.auth.failure", sum(scrape, "smqtt_clients_rejected_total"));
        return all;
    }

    private static long sum(Scrape scrape, String name) {
        return scrape.by(name, "listener").values().stream()
                .mapToLong(Double::longValue)
                .sum();
    }
}
