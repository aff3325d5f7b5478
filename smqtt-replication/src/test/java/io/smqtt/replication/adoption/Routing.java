// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import java.util.HashSet;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** One message on its way to all sessions: to the server of the group that each of them is in, as far as this node knows, until it is accepted. */
final class Routing {

    private final Node node;
    private final Message message;
    private final long sequence;
    private final BooleanSupplier wanted;
    private final Runnable done;
    private final Set<String> open = new HashSet<>();

    private Routing(Node node, Message message, long sequence, BooleanSupplier wanted, Runnable done) {
        this.node = node;
        this.message = message;
        this.sequence = sequence;
        this.wanted = wanted;
        this.done = done;
    }

    /**
     * Routes a message.
     *
     * @param sequence of a QoS 2 message
     * @param done called when each session has it
     */
    static void route(Node node, Message message, long sequence, BooleanSupplier wanted, Runnable done) {
        Routing routing = new Routing(node, message, sequence, wanted, done);
        routing.open.addAll(node.model().subscribers());
        node.model().subscribers().forEach(routing::send);
    }

    private void send(String client) {
        if (!wanted.getAsBoolean()) {
            return;
        }
        Register.Place place = node.register().place(client);
        if (place.group() == Register.NONE) {
            sendLater(client);
            return;
        }
        Change.Enqueue change = new Change.Enqueue(client, place.epoch(), message, sequence);
        node.calls().ask(place.group(), change, wanted, outcome -> {
            if (!outcome.accepted()) {
                sendLater(client);
            } else if (open.remove(client) && open.isEmpty()) {
                done.run();
            }
        });
    }

    private void sendLater(String client) {
        node.host().after(30 + node.model().random().nextInt(40), () -> send(client));
    }
}
