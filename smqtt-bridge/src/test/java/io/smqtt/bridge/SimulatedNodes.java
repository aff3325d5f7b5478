// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.BrokerModule;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RetainedMessages;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterTransport;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/** The views that nodes have of a cluster in which nothing is shared but these views and the hidden retained messages. */
final class SimulatedNodes {

    private final List<String> names;
    private final Set<String> away = ConcurrentHashMap.newKeySet();
    private final Map<String, BrokerModule.Core> running = new ConcurrentHashMap<>();

    /** Whether this thread stores a message of another node. */
    private final ThreadLocal<Boolean> receives = ThreadLocal.withInitial(() -> false);

    SimulatedNodes(String... names) {
        this.names = List.of(names);
    }

    /** A node fails, as the others see it. */
    void fails(String name) {
        away.add(name);
    }

    private static ClusterStatus.Node node(String name) {
        return new ClusterStatus.Node(name, 1, "127.0.0.1:7946", "", 1, 0);
    }

    /** The parts of a node that runs. */
    BrokerModule.Core core(String name) {
        return Objects.requireNonNull(running.get(name));
    }

    /** How a node sees the cluster that has to have a number of reachable nodes. */
    ClusterStatus view(String self, int minMembers) {
        Map<ClusterTransport.Refusal, Long> refused = new EnumMap<>(ClusterTransport.Refusal.class);
        for (ClusterTransport.Refusal reason : ClusterTransport.Refusal.values()) {
            refused.put(reason, 0L);
        }
        List<ClusterStatus.PeerStatus> peers = names.stream()
                .filter(name -> !name.equals(self))
                .map(name -> new ClusterStatus.PeerStatus(node(name), !away.contains(name), 0, 0, 0, 0, 0, Map.of()))
                .toList();
        return new ClusterStatus(
                ClusterStatus.State.JOINED,
                node(self),
                minMembers,
                peers,
                new ClusterStatus.Traffic(0, 0, 0, 0, 0, 0, 0, 0, 0, refused),
                ClusterStatus.Wills.NONE,
                ClusterStatus.Retained.NONE,
                Map.of());
    }

    /** Called under the lock of the messages of a node, so those of the others are changed by a thread of theirs. */
    private void share(ApplicationMessage message) {
        if (receives.get()) {
            return;
        }
        for (BrokerModule.Core node : running.values()) {
            RetainedMessages messages = node.router().retained();
            node.router().loops().get(0).executor().execute(() -> {
                if (messages.get(message.topic()) != message) {
                    receives.set(true);
                    messages.store(message);
                    receives.set(false);
                }
            });
        }
    }

    /** Makes a broker one of the nodes. */
    BrokerModule module(String self) {
        return new BrokerModule() {
            @Override
            public Supplier<ClusterStatus> cluster() {
                return () -> view(self, 0);
            }

            @Override
            public Mono<Void> start(Core core) {
                running.values()
                        .forEach(other -> other.router()
                                .retained()
                                .hidden("$smqtt/")
                                .forEach(message -> core.router().retained().store(message)));
                running.put(self, core);
                core.router().retained().observeHidden(message -> share(message));
                return Mono.empty();
            }

            @Override
            public Mono<Void> stop() {
                running.remove(self);
                return Mono.empty();
            }
        };
    }
}
