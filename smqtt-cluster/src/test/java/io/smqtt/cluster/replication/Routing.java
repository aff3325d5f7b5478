// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import io.smqtt.cluster.replication.Outcome.Ownership;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Takes one message to all sessions that subscribe to its topic: in the model those of all subscribers. */
final class Routing {

    private final Node node;
    private final Message message;
    private final String line;
    private final long sequence;
    private final BooleanSupplier wanted;
    private final Runnable done;
    private final Set<String> open = new HashSet<>();
    private boolean complete;

    private Routing(Node node, Message message, String line, long sequence, BooleanSupplier wanted, Runnable done) {
        this.node = node;
        this.message = message;
        this.line = line;
        this.sequence = sequence;
        this.wanted = wanted;
        this.done = done;
    }

    /**
     * Routes a message.
     *
     * @param line the sequence that the number belongs to
     * @param sequence of a QoS 2 message
     * @param done called when every session has it
     */
    static void route(Node node, Message message, String line, long sequence, BooleanSupplier wanted, Runnable done) {
        Routing routing = new Routing(node, message, line, sequence, wanted, done);
        GroupState view = node.clusterView();
        if (node.model().has(Mistake.ROUTED_BY_VIEW) && view != null) {
            routing.send(view.view().owners());
        } else {
            routing.lookup(null);
        }
    }

    /** Asks where sessions are: of one client again, or of all. */
    private void lookup(@Nullable String client) {
        node.calls().propose(Model.CLUSTER, new Command.Lookup(), wanted, outcome -> {
            Map<String, Ownership> owners = ((Outcome.View) outcome).owners();
            if (client == null) {
                send(owners);
            } else {
                send(client, owners.getOrDefault(client, Ownership.NONE));
            }
        });
    }

    private void send(Map<String, Ownership> owners) {
        owners.forEach((client, owner) -> {
            if (client.startsWith("s") && owner.group() >= 0) {
                open.add(client);
            }
        });
        Set.copyOf(open).stream().sorted().forEach(client -> send(client, owners.get(client)));
        finish();
    }

    private void send(String client, Ownership owner) {
        Command command = new Command.Enqueue(client, owner.groupEpoch(), line, sequence, message);
        node.calls().propose(owner.group(), command, wanted, outcome -> {
            if (outcome instanceof Outcome.Accepted) {
                open.remove(client);
                finish();
            } else {
                node.host().after(30 + node.model().random().nextInt(40), () -> lookup(client));
            }
        });
    }

    private void finish() {
        if (open.isEmpty() && !complete) {
            complete = true;
            done.run();
        }
    }
}
