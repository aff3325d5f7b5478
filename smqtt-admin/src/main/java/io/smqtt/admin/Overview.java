// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The figures of a broker at one moment, and its rates since an earlier one. Immutable.
 *
 * @param resources the resources of the process
 * @param clients clients and connections
 * @param messages messages
 * @param times how long messages take
 * @param loops the event loops, in the order of their names
 * @param store the store; null without one
 * @param cluster the cluster; null without one
 */
public record Overview(
        Resources resources,
        Clients clients,
        Messages messages,
        Times times,
        List<Loop> loops,
        @Nullable Store store,
        @Nullable Cluster cluster) {

    /** Copies the list. */
    public Overview {
        loops = List.copyOf(loops);
    }

    /**
     * The resources of the process.
     *
     * @param uptimeSeconds how long it runs
     * @param cpuShare processor time per time; 1 is one core
     * @param heapBytes the heap in use
     * @param maxHeapBytes what the heap may grow to
     * @param bufferBytes direct memory of the buffers
     * @param openFiles open file descriptors
     * @param maxFiles how many there may be
     */
    public record Resources(
            double uptimeSeconds,
            double cpuShare,
            double heapBytes,
            double maxHeapBytes,
            double bufferBytes,
            double openFiles,
            double maxFiles) {}

    /**
     * Clients and connections.
     *
     * @param online clients that are connected
     * @param sessions sessions, connected or not
     * @param subscriptions subscriptions
     * @param sharedGroups groups of shared subscriptions
     * @param retainedMessages retained messages
     * @param openedPerSecond connections that were opened
     * @param closedPerSecond connections that were closed
     * @param acceptedPerSecond CONNECT packets that were accepted
     * @param refusedPerSecond connections and CONNECT packets that were refused
     */
    public record Clients(
            double online,
            double sessions,
            double subscriptions,
            double sharedGroups,
            double retainedMessages,
            double openedPerSecond,
            double closedPerSecond,
            double acceptedPerSecond,
            double refusedPerSecond) {}

    /**
     * Messages.
     *
     * @param received those from publishers
     * @param delivered those to subscribers
     * @param dropped those that were lost on the way to subscribers
     * @param refused those that were not taken from publishers
     * @param queued those that wait in queues
     * @param inFlight those that were sent and not acknowledged
     * @param pending those that have neither been delivered nor dropped
     */
    public record Messages(
            Flow received,
            Flow delivered,
            Loss dropped,
            Loss refused,
            double queued,
            double inFlight,
            double pending) {}

    /**
     * Messages that pass.
     *
     * @param perSecond how many now
     * @param total how many in all
     * @param perSecondByQos how many now, by their quality of service
     * @param bytesPerSecond the payload now
     */
    public record Flow(double perSecond, double total, Map<String, Double> perSecondByQos, double bytesPerSecond) {

        /** Copies the map. */
        public Flow {
            perSecondByQos = copy(perSecondByQos);
        }
    }

    /**
     * Messages that do not pass.
     *
     * @param perSecond how many now
     * @param total how many in all
     * @param perSecondByReason how many now, by the reason
     * @param totalByReason how many in all, by the reason
     */
    public record Loss(
            double perSecond, double total, Map<String, Double> perSecondByReason, Map<String, Double> totalByReason) {

        /** Copies the maps. */
        public Loss {
            perSecondByReason = copy(perSecondByReason);
            totalByReason = copy(totalByReason);
        }
    }

    /**
     * How long messages take, of one in 1,024.
     *
     * @param deliverySeconds the mean from the receipt to the delivery; not a number if nothing was delivered
     * @param routingSeconds the mean of routing; not a number if nothing was routed
     */
    public record Times(double deliverySeconds, double routingSeconds) {}

    /**
     * An event loop.
     *
     * @param name its number
     * @param cpuShare how busy it is; 1 is always
     * @param lagSeconds how late a task is at most; not a number if that is not known
     * @param pendingTasks how many tasks wait
     */
    public record Loop(String name, double cpuShare, double lagSeconds, double pendingTasks) {}

    /**
     * The store.
     *
     * @param healthy whether it works
     * @param commitsPerSecond commits
     * @param operationsPerSecond operations in these
     * @param commitSeconds the mean of a commit; not a number if there was none
     * @param queuedBytes what waits to be written
     * @param diskBytes what is on disk
     */
    public record Store(
            boolean healthy,
            double commitsPerSecond,
            double operationsPerSecond,
            double commitSeconds,
            double queuedBytes,
            double diskBytes) {}

    /**
     * The cluster.
     *
     * @param members nodes that are together
     * @param knownMembers nodes that are known
     * @param forwardedPerSecond messages that were sent to other nodes
     * @param queued messages that wait for other nodes
     * @param parked those of them that wait for the return of a node
     * @param routes routes of all nodes
     */
    public record Cluster(
            double members,
            double knownMembers,
            double forwardedPerSecond,
            double queued,
            double parked,
            double routes) {}

    private static Map<String, Double> copy(Map<String, Double> map) {
        return Collections.unmodifiableMap(new LinkedHashMap<>(map));
    }

    /**
     * Reads the figures.
     *
     * @param before the meters at the earlier moment
     * @param now the meters at the moment
     * @return the figures of the moment, and the rates between both
     */
    public static Overview of(Scrape before, Scrape now) {
        return new Overview(
                resources(before, now),
                clients(before, now),
                new Messages(
                        flow(before, now, "received"),
                        flow(before, now, "delivered"),
                        loss(before, now, "smqtt_messages_dropped_total"),
                        loss(before, now, "smqtt_messages_refused_total"),
                        now.sum("smqtt_messages_waiting"),
                        now.sum("smqtt_messages_inflight"),
                        now.sum("smqtt_messages_pending")),
                new Times(
                        now.mean(before, "smqtt_delivery_time_seconds"), now.mean(before, "smqtt_route_time_seconds")),
                loops(before, now),
                store(before, now),
                cluster(before, now));
    }

    private static Resources resources(Scrape before, Scrape now) {
        return new Resources(
                now.sum("process_uptime_seconds"),
                now.rate(before, "process_cpu_time_ns_total") / 1e9,
                now.sum("jvm_memory_used_bytes", "area=\"heap\""),
                now.sumOfPositive("jvm_memory_max_bytes", "area=\"heap\""), // a pool without a limit of its own says -1
                now.sum("netty_allocator_memory_used", "memory_type=\"direct\""),
                now.sum("process_files_open_files"),
                now.sum("process_files_max_files"));
    }

    private static Clients clients(Scrape before, Scrape now) {
        return new Clients(
                now.sum("smqtt_clients_online"),
                now.sum("smqtt_sessions_active"),
                now.sum("smqtt_subscriptions_active"),
                now.sum("smqtt_subscriptions_groups"),
                now.sum("smqtt_retained_messages"),
                now.rate(before, "smqtt_connections_opened_total"),
                now.rate(before, "smqtt_connections_closed_total"),
                now.rate(before, "smqtt_clients_accepted_total"),
                now.rate(before, "smqtt_clients_rejected_total") + now.rate(before, "smqtt_connections_refused_total"));
    }

    private static Flow flow(Scrape before, Scrape now, String direction) {
        String counter = "smqtt_messages_" + direction + "_total";
        return new Flow(
                now.rate(before, counter),
                now.sum(counter),
                now.rates(before, counter, "qos"),
                now.rate(before, "smqtt_payload_" + direction + "_bytes_total"));
    }

    private static Loss loss(Scrape before, Scrape now, String counter) {
        return new Loss(
                now.rate(before, counter),
                now.sum(counter),
                now.rates(before, counter, "reason"),
                now.by(counter, "reason"));
    }

    private static List<Loop> loops(Scrape before, Scrape now) {
        Map<String, Double> lags = now.by("smqtt_eventloop_lag_seconds", "loop");
        Map<String, Double> tasks = now.by("smqtt_eventloop_pending_tasks", "loop");
        List<Loop> loops = new ArrayList<>();
        now.rates(before, "smqtt_eventloop_cpu_seconds_total", "loop")
                .forEach((name, cpu) -> loops.add(
                        new Loop(name, cpu, lags.getOrDefault(name, Double.NaN), tasks.getOrDefault(name, 0.0))));
        return loops;
    }

    private static @Nullable Store store(Scrape before, Scrape now) {
        if (now.sum("smqtt_store_disk_bytes") == 0 && now.sum("smqtt_store_commit_seconds_count") == 0) {
            return null;
        }
        return new Store(
                now.sum("smqtt_store_healthy") > 0,
                now.rate(before, "smqtt_store_commit_seconds_count"),
                now.rate(before, "smqtt_store_operations_total"),
                now.mean(before, "smqtt_store_commit_seconds"),
                now.sum("smqtt_store_queue_bytes"),
                now.sum("smqtt_store_disk_bytes"));
    }

    private static @Nullable Cluster cluster(Scrape before, Scrape now) {
        if (!now.has("smqtt_cluster_members")) {
            return null;
        }
        return new Cluster(
                now.sum("smqtt_cluster_members"),
                now.sum("smqtt_cluster_members_known"),
                now.rate(before, "smqtt_cluster_forwarded_total"),
                now.sum("smqtt_cluster_queue"),
                now.sum("smqtt_cluster_parked"),
                now.sum("smqtt_cluster_routes_own") + now.sum("smqtt_cluster_routes_remote"));
    }

    /**
     * The figures as {@code smqtt top} shows them.
     *
     * @param where which broker it is
     * @return some lines within 100 columns, each with its end
     */
    public String text(String where) {
        return OverviewText.of(where, this);
    }
}
