// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.BrokerModule;
import io.smqtt.message.ReasonCode;
import io.smqtt.session.InProcess;
import io.smqtt.session.PacketSink;
import io.smqtt.session.SessionRegistry;
import io.smqtt.spi.Replicas;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Shows the replicas of this node to other modules, and with {@code storage.adoption} adopts the stores of nodes that are away. The store of this node
 * ends the replicas. When another node has served it, the clients whose sessions are in it are disconnected: what this node has in memory of them is out
 * of date. Their subscriptions stay until it is started again.
 */
final class ReplicationModule implements BrokerModule {

    private final ReplicaNode node;
    private final boolean adopts;

    ReplicationModule(ReplicaNode node) {
        this(node, false);
    }

    /**
     * Creates the module.
     *
     * @param adopts whether this node serves the stores of nodes that are away
     */
    ReplicationModule(ReplicaNode node, boolean adopts) {
        this.node = node;
        this.adopts = adopts;
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
        return Mono.fromRunnable(() -> {
            if (adopts) {
                core.sessions().adoptions().expect(node.unserved());
                core.sessions().adoptions().whenServedElsewhere(node::servedElsewhere);
                node.whenNotServed(core.sessions()::loseStored);
                node.adoptInto(core.sessions());
            } else {
                node.whenNotServed(() -> disconnectStored(core.sessions()));
            }
        });
    }

    private static void disconnectStored(SessionRegistry sessions) {
        sessions.all()
                .forEach(session -> session.execute(() -> {
                    PacketSink connection = session.sink();
                    if (connection != null && session.isStored()) {
                        connection.disconnect(reasonFor(session.id()));
                    }
                }));
    }

    /** A consumer in the process takes that of a stop for its regular end, but the broker runs on. */
    private static ReasonCode reasonFor(String clientId) {
        return InProcess.isReserved(clientId) ? ReasonCode.SERVER_UNAVAILABLE : ReasonCode.SERVER_SHUTTING_DOWN;
    }

    @Override
    public Mono<Void> stop() {
        return Mono.<Void>fromRunnable(node::stopAdopting).subscribeOn(Schedulers.boundedElastic());
    }
}
