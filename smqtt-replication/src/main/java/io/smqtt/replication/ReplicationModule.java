// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.BrokerModule;
import io.smqtt.spi.Replicas;
import reactor.core.publisher.Mono;

/** Shows the replicas of this node to other modules. The store ends them. */
final class ReplicationModule implements BrokerModule {

    private final ReplicaNode node;

    ReplicationModule(ReplicaNode node) {
        this.node = node;
    }

    @Override
    public Replicas replicas() {
        return node;
    }

    @Override
    public String configurationKey() {
        return "storage.replicas";
    }

    @Override
    public Mono<Void> start(Core core) {
        return Mono.empty();
    }

    @Override
    public Mono<Void> stop() {
        return Mono.empty();
    }
}
