// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.BrokerBuilder;
import io.smqtt.ModuleProvider;
import io.smqtt.cluster.jgroups.ReplicaProtocols;
import io.smqtt.config.BrokerConfig;
import io.smqtt.persistence.StoreSettings;
import io.smqtt.persistence.StoreUnusableException;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoreUnavailableException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jgroups.stack.Protocol;

/** Gives brokers a store whose replicas are on several nodes: {@code storage.replicas} above 1. */
public final class ReplicationProvider implements ModuleProvider {

    /** Other nodes may be started by hand, or wait for their disks. */
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    /** Creates the provider, for {@link java.util.ServiceLoader}. */
    public ReplicationProvider() {}

    @Override
    public String name() {
        return "smqtt-replication";
    }

    @Override
    public Stage stage() {
        return Stage.STORE;
    }

    @Override
    public boolean isWanted(BrokerConfig config) {
        return config.storage().replicas() > 1;
    }

    @Override
    public void check(BrokerConfig config) {
        ReplicaIdentity.require(config.storage().dir(), ReplicaPlan.of(config));
    }

    @Override
    public Consumer<BrokerBuilder> create(BrokerConfig config) {
        check(config);
        return builder -> add(config, builder);
    }

    private static void add(BrokerConfig config, BrokerBuilder builder) {
        ReplicaNode node = open(config);
        try {
            BrokerStore store = node.awaitStore(PATIENCE);
            if (store == null) {
                throw new StoreUnavailableException(
                        "after " + PATIENCE.toMinutes() + " minutes without progress still " + node.progress(), null);
            }
            builder.store(store)
                    .module(new ReplicationModule(node, config.storage().adoption()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            node.closeAll();
            throw new IllegalStateException("interrupted while other nodes with replicas were awaited", e);
        } catch (RuntimeException | Error e) {
            node.closeAll();
            throw e;
        }
    }

    private static ReplicaNode open(BrokerConfig config) {
        ReplicaPlan plan = ReplicaPlan.of(config);
        Path data = config.storage().dir();
        try {
            return ReplicaNode.open(plan, data, StoreSettings.of(config.storage()), () -> protocols(config, plan));
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) { // of files
            throw StoreUnusableException.of(data, e);
        }
    }

    private static List<Protocol> protocols(BrokerConfig config, ReplicaPlan plan) {
        try {
            return ReplicaProtocols.create(
                    config.cluster(),
                    plan.address(),
                    List.copyOf(plan.addresses().values()),
                    refusal -> {});
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) { // a name that has no address
            throw new StoreUnavailableException("cluster.nodes: " + e.getMessage(), e);
        }
    }
}
