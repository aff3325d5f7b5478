// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Figures of a broker at one moment, and rates since an earlier one, for {@code smqtt top}. Immutable.
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
     * @param uptimeSeconds time since the start
     * @param cpuShare CPU time per second; 1 is one core
     * @param heapBytes the heap in use
     * @param maxHeapBytes maximum size of the heap
     * @param bufferBytes direct memory of the buffers
     * @param openFiles open file descriptors
     * @param maxFiles maximum number of file descriptors
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
     * @param online connected clients
     * @param sessions sessions, online and offline
     * @param subscriptions subscriptions
     * @param sharedGroups groups of shared subscriptions
     * @param retainedMessages retained messages
     * @param openedPerSecond opened connections
     * @param closedPerSecond closed connections
     * @param acceptedPerSecond accepted CONNECT packets
     * @param refusedPerSecond refused connections and CONNECT packets
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
     * @param received messages from publishers
     * @param delivered messages to subscribers
     * @param dropped dropped deliveries
     * @param refused messages refused at the publisher
     * @param queued messages in queues
     * @param inFlight messages sent and not acknowledged
     * @param pending messages neither delivered nor dropped
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
     * Messages in one direction.
     *
     * @param perSecond rate
     * @param total number since the start
     * @param perSecondByQos rate by QoS
     * @param bytesPerSecond rate of the payload
     */
    public record Flow(double perSecond, double total, Map<String, Double> perSecondByQos, double bytesPerSecond) {

        /** Copies the map. */
        public Flow {
            perSecondByQos = copy(perSecondByQos);
        }
    }

    /**
     * Dropped or refused messages.
     *
     * @param perSecond rate
     * @param total number since the start
     * @param perSecondByReason rate by reason
     * @param totalByReason number since the start by reason
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
     * Mean times of messages, sampled from one in 1,024.
     *
     * @param deliverySeconds time from receipt to delivery; NaN without deliveries
     * @param routingSeconds time of routing; NaN without messages
     */
    public record Times(double deliverySeconds, double routingSeconds) {}

    /**
     * An event loop.
     *
     * @param name its number
     * @param cpuShare CPU time per second; 1 is always busy
     * @param lagSeconds maximum delay of a task; NaN if unknown
     * @param pendingTasks number of waiting tasks
     */
    public record Loop(String name, double cpuShare, double lagSeconds, double pendingTasks) {}

    /**
     * The store.
     *
     * @param healthy whether it accepts operations
     * @param commitsPerSecond rate of commits
     * @param operationsPerSecond rate of operations
     * @param commitSeconds mean time of a commit; NaN without commits
     * @param queuedBytes bytes waiting to be written
     * @param diskBytes bytes on disk
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
     * @param members reachable nodes
     * @param knownMembers known nodes
     * @param forwardedPerSecond rate of messages to other nodes
     * @param queued messages waiting for other nodes
     * @param parked messages waiting for the return of a node
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
     * Computes figures and rates from two scrapes.
     *
     * @param before the earlier scrape
     * @param now the later scrape
     * @return figures of the later one, and rates between both
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
     * Prints the figures as {@code smqtt top} shows them.
     *
     * @param where the address of the broker
     * @return lines of about 100 columns, each with a line feed
     */
    public String text(String where) {
        return OverviewText.of(where, this);
    }
}
