// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.BrokerModule;
import io.smqtt.config.AlarmConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.metric.Alarms.Condition;
import io.smqtt.overload.HeapFigure;
import io.smqtt.spi.Alarm.Severity;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.spi.Bridges;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ReplicaStatus;
import io.smqtt.spi.Replicas;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** The conditions of alarms. Reads figures that exist already, and certificate files once an hour. For one thread, which may block. */
final class AlarmChecks {

    private static final long LATE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final double MIB = 1 << 20;

    private final BrokerModule.Core core;
    private final AlarmConfig config;
    private final BrokerMeters meters;
    private final List<LoopProbe> probes;
    private final CertificateExpiry certificates;
    private final HeapFigure heap = new HeapFigure();
    private Map<String, Condition> found = new LinkedHashMap<>();
    private boolean served = true; // at the check before

    AlarmChecks(BrokerModule.Core core, BrokerMeters meters, List<LoopProbe> probes) {
        this.core = core;
        this.config = core.config().management().alarms();
        this.meters = meters;
        this.probes = probes;
        certificates = new CertificateExpiry(core.config());
    }

    /** The conditions that hold now, by the name of their alarm. */
    Map<String, Condition> check(Instant now) {
        found = new LinkedHashMap<>();
        store();
        loops();
        heap();
        limits();
        cluster();
        replicas();
        bridges();
        meters.backends()
                .failing()
                .forEach(name -> fail(
                        "backend_down/" + name,
                        "access.backends." + name
                                + " fails: clients that it has to check are refused or go to the next "
                                + "backend, as its on-failure says"));
        if (!config.certificateExpiry().isZero()) {
            certificates.ends(now).forEach((block, end) -> certificate(block, end, now));
        }
        return found;
    }

    private void warn(String name, String message) {
        found.put(name, new Condition(Severity.WARNING, message));
    }

    private void fail(String name, String message) {
        found.put(name, new Condition(Severity.CRITICAL, message));
    }

    private void store() {
        StoreMeters store = meters.store();
        if (!store.isHealthy()) {
            fail(
                    "store_unhealthy",
                    store.isHanging()
                            ? "the store has been at one commit for more than 10 s"
                            : "the store does not accept operations");
        }
        double free = store.freeBytes(); // NaN if unknown
        if (free < config.minFreeDiskBytes()) {
            warn(
                    "disk_low",
                    String.format(
                            Locale.ROOT,
                            "%.0f MiB are free in the file system of the store, less than %.0f MiB",
                            free / MIB,
                            config.minFreeDiskBytes() / MIB));
        }
        near("storage.max-bytes", store.diskBytes(), core.config().storage().maxBytes());
    }

    private void loops() {
        int level = meters.overload().level();
        if (level > 0) {
            Severity severity = level > 1 ? Severity.CRITICAL : Severity.WARNING;
            found.put("overload", new Condition(severity, meters.overload().toString()));
            return;
        }
        double lag = probes.stream().mapToDouble(LoopProbe::greatestLag).max().orElse(0);
        if (lag > LATE_NANOS) {
            warn("overload", String.format(Locale.ROOT, "an event loop was %.1f s behind", lag / 1e9));
        }
    }

    private void heap() {
        long live = heap.usedBytes();
        long maximum = heap.maximumBytes();
        if (live > maximum / 10 * 9) {
            warn(
                    "heap_high",
                    String.format(
                            Locale.ROOT,
                            "after a collection %.0f of %.0f MiB of the heap for old objects are in use",
                            live / MIB,
                            maximum / MIB));
        }
    }

    private void limits() {
        LimitsConfig limits = core.config().limits();
        near("limits.max-total-queued-bytes", core.budget().bytes(), limits.maxTotalQueuedBytes());
        near("limits.max-total-session-bytes", core.sessions().budget().bytes(), limits.maxTotalSessionBytes());
        near("limits.max-sessions", core.sessions().all().size(), limits.maxSessions());
        near("limits.max-connections", meters.connections().open(), limits.maxConnections());
        near("limits.max-retained-messages", core.router().retained().count(), limits.maxRetainedMessages());
        near("limits.max-retained-bytes", core.router().retained().bytes(), limits.maxRetainedBytes());
    }

    private void near(String key, long used, long limit) {
        if (limit > 0 && (double) used >= (double) limit * config.limitPercent() / 100) {
            warn(
                    "limit_near/" + key.substring(key.indexOf('.') + 1),
                    used + " of " + key + " " + limit + " are in use");
        }
    }

    private void cluster() {
        Supplier<ClusterStatus> watched = core.cluster();
        ClusterStatus status = watched == null ? null : watched.get();
        if (status == null) {
            return;
        }
        for (ClusterStatus.PeerStatus peer : status.peers()) {
            if (!peer.reachable() && !peer.node().front()) {
                warn(
                        "peer_gone/" + peer.node().nodeId(),
                        "node " + peer.node().nodeId() + " at " + peer.node().address() + " cannot be reached");
            }
        }
        if (status.state() == ClusterStatus.State.JOINED && status.fullNodes() < status.minMembers()) {
            fail(
                    "too_few_members",
                    status.fullNodes() + " nodes can be reached, front nodes not counted, and cluster.min-members is "
                            + status.minMembers());
        }
        if (status.state() == ClusterStatus.State.JOINED && !status.hasKeeper()) {
            fail(
                    "no_keeper",
                    "no node with cluster.relay.bind can be reached, which takes the clients with stored sessions of this front node");
        }
    }

    private void replicas() {
        Replicas held = core.replicas();
        if (held == null) {
            return;
        }
        held.status().forEach(one -> {
            if (one.failure() != null) {
                fail(
                        "replica_failed/" + one.home(),
                        "the replica of node " + one.home() + "'s store on this node is not in use: " + one.failure());
            }
        });
        ReplicaStatus own = held.own();
        boolean serves = own.serves() || own.failure() != null;
        if (!serves && !served) { // a vote takes a moment
            fail(
                    "no_majority",
                    "this node commits nothing: it reaches " + own.connected().size() + " of the "
                            + own.members().size() + " nodes with its replicas, and the leader of these is "
                            + (own.leader() == null ? "not known" : own.leader()));
        }
        served = serves;
    }

    private void bridges() {
        Bridges watched = core.bridges();
        if (watched == null) {
            return;
        }
        for (BridgeStatus bridge : watched.status()) {
            if (bridge.state() == BridgeStatus.State.DISCONNECTED) {
                fail(
                        "bridge_down/" + bridge.name(),
                        "bridges." + bridge.name() + " is not connected to " + bridge.address() + " since "
                                + bridge.since() + ": " + bridge.lastError());
            }
        }
    }

    private void certificate(String block, Instant end, Instant now) {
        String file = block + ".tls.certificate, " + certificates.file(block) + ",";
        if (!now.isBefore(end)) {
            fail("certificate_expires/" + block, file + " expired at " + end);
        } else if (Duration.between(now, end).compareTo(config.certificateExpiry()) < 0) {
            warn("certificate_expires/" + block, file + " expires at " + end);
        }
    }
}
