// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.smqtt.spi.ReplicaStatus;
import io.smqtt.spi.Replicas;
import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Meters of the replicas that this node holds of one node's store. The tag is that node, whose name is in the configuration. Read when the
 * registry is read; all meters that are read at about the same time show one snapshot.
 */
@AnyThread
final class ReplicaMeters {

    private final MeterRegistry registry;
    private final Snapshot snapshot;
    private final String home;

    private ReplicaMeters(MeterRegistry registry, Snapshot snapshot, String home) {
        this.registry = registry;
        this.snapshot = snapshot;
        this.home = home;
    }

    /** Registers the meters of all replicas on this node. */
    static void bindTo(MeterRegistry registry, Replicas replicas) {
        bindTo(registry, replicas, System::nanoTime);
    }

    /** The same with another clock. */
    static void bindTo(MeterRegistry registry, Replicas replicas, LongSupplier nanoTime) {
        Snapshot snapshot = new Snapshot(replicas, nanoTime);
        snapshot.current().forEach(one -> new ReplicaMeters(registry, snapshot, one.home()).register());
    }

    private void register() {
        gauge("term", null, "term of the group of replicas; grows with each leadership", ReplicaStatus::term);
        gauge("serving", null, "1 while this node commits what its clients store", one -> one.serves() ? 1 : 0);
        gauge(
                "members.connected",
                null,
                "nodes with a replica that this node reaches, itself included",
                one -> one.connected().size());
        gauge("voter", null, "0 while the replica of this node is new and does not count", one -> one.voter() ? 1 : 0);
        gauge(
                "entries",
                null,
                "number of the last entry that is on a majority of disks, as far as this node knows",
                ReplicaStatus::committedEntry);
        gauge(
                "behind",
                null,
                "on the leader, entries that the slowest connected member does not have yet",
                one -> one.behind().values().stream()
                        .mapToLong(ReplicaStatus.Lag::entries)
                        .max()
                        .orElse(0));
        gauge(
                "behind.size",
                "bytes",
                "on the leader, approximate size of the entries that the slowest connected member does not have yet",
                one -> one.behind().values().stream()
                        .mapToLong(ReplicaStatus.Lag::bytes)
                        .max()
                        .orElse(0));
        gauge(
                "commit.age",
                "seconds",
                "on the leader, time since its last commit, or since the start",
                one -> one.sinceCommitMillis() / 1e3);
        gauge(
                "failed",
                null,
                "1 when the replica of this node has ended, or is not served any more",
                one -> one.failure() == null ? 0 : 1);
        counter(
                "checkpoint.sent",
                "bytes",
                "checkpoints for members whose log is empty or too old",
                ReplicaStatus::sentBytes);
        counter("checkpoint.received", "bytes", "checkpoints of leaders, for this node", ReplicaStatus::receivedBytes);
        counter("refused", null, "messages of other members that were damaged", ReplicaStatus::refusedMessages);
        gauge("waiting", null, "entries of this node that wait for a majority", ReplicaStatus::waitingEntries);
        gauge("log.size", "bytes", "approximate size of the log of the replica", ReplicaStatus::logBytes);
    }

    private void gauge(String name, @Nullable String unit, String description, ToDoubleFunction<ReplicaStatus> of) {
        Gauge.builder("smqtt.replica." + name, () -> value(of))
                .description(description)
                .baseUnit(unit)
                .tag("home", home)
                .register(registry);
    }

    private void counter(String name, @Nullable String unit, String description, ToDoubleFunction<ReplicaStatus> of) {
        FunctionCounter.builder("smqtt.replica." + name, snapshot, held -> value(of))
                .description(description)
                .baseUnit(unit)
                .tag("home", home)
                .register(registry);
    }

    private double value(ToDoubleFunction<ReplicaStatus> of) {
        return snapshot.current().stream()
                .filter(one -> one.home().equals(home))
                .mapToDouble(of)
                .sum();
    }

    /** The states of all replicas, taken again when they are older than a read of all meters lasts. */
    private static final class Snapshot {

        private static final long FRESH_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

        private final Replicas replicas;
        private final LongSupplier nanoTime;
        private List<ReplicaStatus> taken; // guarded by this
        private long takenNanos; // guarded by this

        Snapshot(Replicas replicas, LongSupplier nanoTime) {
            this.replicas = replicas;
            this.nanoTime = nanoTime;
            takenNanos = nanoTime.getAsLong();
            taken = replicas.status();
        }

        synchronized List<ReplicaStatus> current() {
            long now = nanoTime.getAsLong();
            if (now - takenNanos > FRESH_NANOS) {
                takenNanos = now;
                taken = replicas.status();
            }
            return taken;
        }
    }
}
