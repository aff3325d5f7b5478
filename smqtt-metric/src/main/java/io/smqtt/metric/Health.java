// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.spi.Bridges;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.HealthReport;
import io.smqtt.spi.ReplicaStatus;
import io.smqtt.spi.Replicas;
import io.smqtt.spi.Rules;
import io.smqtt.spi.Sources;
import io.smqtt.thread.AnyThread;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Liveness and readiness checks of the broker. */
@AnyThread
final class Health {

    private static final long STUCK_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final StoreMeters store;
    private final BackendCounts backends;
    private final OverloadLevel overload;
    private volatile boolean listening;
    private volatile boolean draining;
    private volatile List<LoopProbe> loops = List.of();
    private volatile @Nullable Supplier<ClusterStatus> cluster;
    private volatile @Nullable Bridges bridges;
    private volatile @Nullable Rules rules;
    private volatile @Nullable Sources sources;
    private volatile @Nullable Replicas replicas;

    Health(StoreMeters store, BackendCounts backends, OverloadLevel overload) {
        this.store = store;
        this.backends = backends;
        this.overload = overload;
    }

    void watch(List<LoopProbe> probes) {
        loops = probes;
    }

    void cluster(Supplier<ClusterStatus> status) {
        cluster = status;
    }

    void bridges(Bridges watched) {
        bridges = watched;
    }

    void rules(Rules watched) {
        rules = watched;
    }

    void sources(Sources watched) {
        sources = watched;
    }

    void replicas(Replicas watched) {
        replicas = watched;
    }

    void listening() {
        listening = true;
    }

    void draining() {
        draining = true;
    }

    /**
     * Fails only for a state that needs a restart: an event loop that has not run a due task for 30 seconds, or replicas that have ended and can be
     * opened again.
     */
    HealthReport live() {
        Map<String, String> checks = new LinkedHashMap<>();
        boolean stuck = false;
        List<LoopProbe> probes = loops;
        for (int i = 0; i < probes.size(); i++) {
            if (probes.get(i).lateNanos() > STUCK_NANOS) {
                stuck = true;
                checks.put("event-loop-" + i, "stuck");
            }
        }
        if (!stuck) {
            checks.put("event-loops", "running");
        }
        Replicas held = replicas;
        boolean ended = held != null && held.needsRestart();
        if (ended) {
            checks.put("replicas", "ended; a restart opens them again");
        }
        return new HealthReport(!stuck && !ended, checks);
    }

    /**
     * Ready means that clients can connect: listeners bound, store healthy, not stopping, and in a cluster connected to the configured
     * minimum of nodes.
     */
    HealthReport ready() {
        Map<String, String> checks = new LinkedHashMap<>();
        checks.put("listeners", draining ? "draining" : listening ? "bound" : "starting");
        boolean healthy = store.isHealthy();
        checks.put(
                "store", !store.isPresent() ? "none" : healthy ? "healthy" : store.isHanging() ? "hanging" : "failing");
        checks.put("overload", overload.toString()); // a detail only: connected clients are served
        Supplier<ClusterStatus> watched = cluster;
        boolean together = true;
        if (watched != null) {
            ClusterStatus status = watched.get();
            together = status.isReady();
            checks.put("cluster", cluster(status));
        }
        // a detail only: other nodes have the same backends
        backends.states().forEach((name, working) -> checks.put("backend-" + name, working ? "up" : "down"));
        Bridges dialled = bridges;
        if (dialled != null) { // a detail only: clients can be served
            dialled.status().forEach(bridge -> checks.put("bridge-" + bridge.name(), Tagged.of(bridge.state())));
        }
        Rules evaluated = rules;
        if (evaluated != null) { // a detail only: messages wait in their queues
            evaluated
                    .status()
                    .forEach(rule -> rule.actions()
                            .forEach(action -> checks.put(
                                    "rule-" + rule.name() + '-' + action.name(),
                                    action.lastError() == null ? "up" : "down")));
        }
        Sources read = sources;
        if (read != null) { // a detail only, as bridges
            read.status().forEach(source -> checks.put("source-" + source.name(), Tagged.of(source.state())));
        }
        Replicas held = replicas;
        boolean committing = true;
        if (held != null) {
            ReplicaStatus own = held.own();
            committing = own.serves();
            checks.put("replicas", replicas(own));
        }
        return new HealthReport(listening && !draining && healthy && together && committing, checks);
    }

    private static String cluster(ClusterStatus status) {
        if (status.isReady() || status.state() != ClusterStatus.State.JOINED) {
            return Tagged.of(status.state());
        }
        return status.hasKeeper() ? "too few members" : "no node takes stored sessions";
    }

    private static String replicas(ReplicaStatus own) {
        String connected = own.connected().size() + " of " + own.members().size();
        if (own.failure() != null) {
            return "failed: " + own.failure();
        }
        if (own.serves()) {
            return connected;
        }
        return own.hasMajority() ? "not leading" : "no majority, " + connected;
    }
}
