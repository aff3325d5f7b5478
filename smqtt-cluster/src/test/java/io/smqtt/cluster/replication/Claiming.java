// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import io.smqtt.cluster.replication.Outcome.Ownership;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A claim of a session: an epoch from the cluster's group, the session sealed where it is and installed where it is to be,
 * and then settled there. Each step is an entry of a log; whoever finds a session between two steps begins a new claim.
 */
final class Claiming {

    /**
     * A claim that is settled.
     *
     * @param present whether there was a session
     */
    record Claim(long epoch, int group, boolean present, Outcome.View view) {}

    private final Node node;
    private final String client;
    private final boolean adopted;
    private final int expected;
    private final BooleanSupplier wanted;
    private final Consumer<@Nullable Claim> done;
    private long epoch;
    private int from;
    private int to;

    private Claiming(
            Node node,
            String client,
            boolean adopted,
            int expected,
            BooleanSupplier wanted,
            Consumer<@Nullable Claim> done) {
        this.node = node;
        this.client = client;
        this.adopted = adopted;
        this.expected = expected;
        this.wanted = wanted;
        this.done = done;
    }

    /** Claims a session for a client that has connected to this node. */
    static void serve(Node node, String client, int attempt, BooleanSupplier wanted, Consumer<@Nullable Claim> done) {
        String token = node.id() + "/" + node.host().life() + "/" + attempt;
        new Claiming(node, client, false, -1, wanted, done).begin(token);
    }

    /** Claims a session whose node is gone, for a group that this node leads. */
    static void adopt(
            Node node, String client, int group, long number, BooleanSupplier wanted, Consumer<@Nullable Claim> done) {
        String token = "adopt/" + node.id() + "/" + node.host().life() + "/" + number;
        new Claiming(node, client, true, group, wanted, done).begin(token);
    }

    private void begin(String token) {
        Command.Claim claim = new Command.Claim(client, token);
        if (node.model().has(Mistake.CLAIMED_BY_VIEW) && node.clusterView() != null) {
            Ownership view = node.viewOf(client);
            claimed(new Outcome.Claimed(view.epoch() + 1, view.group(), view.groupEpoch()));
            return;
        }
        propose(Model.CLUSTER, claim, outcome -> claimed((Outcome.Claimed) outcome));
    }

    private void claimed(Outcome.Claimed claimed) {
        epoch = claimed.epoch();
        from = claimed.group();
        if (adopted && from != expected) {
            propose(expected, new Command.Drop(client, epoch), dropped -> done.accept(null)); // left over by a move
            return;
        }
        to = adopted ? expected : node.groupFor(from);
        if (from < 0) {
            install(null);
        } else {
            propose(from, new Command.Seal(client, epoch), this::sealed);
        }
    }

    private void sealed(Outcome outcome) {
        if (outcome instanceof Outcome.Sealed sealed) {
            install(sealed.state());
        } else {
            done.accept(null);
        }
    }

    private void install(@Nullable SessionState state) {
        int server = adopted ? -1 : node.id();
        boolean will = !adopted && client.startsWith("p");
        Command install =
                new Command.Install(client, epoch, state, server, node.host().life(), will);
        propose(to, install, outcome -> installed(outcome, state != null));
    }

    private void installed(Outcome outcome, boolean present) {
        if (outcome instanceof Outcome.Refused) {
            done.accept(null);
            return;
        }
        propose(Model.CLUSTER, new Command.Settle(client, epoch, to), settled -> settled(settled, present));
    }

    private void settled(Outcome outcome, boolean present) {
        if (!(outcome instanceof Outcome.View view)) {
            done.accept(null);
            return;
        }
        if (from >= 0 && from != to) {
            node.calls().propose(from, new Command.Drop(client, epoch), wanted, dropped -> {});
        }
        done.accept(new Claim(epoch, to, present, view));
    }

    private void propose(int group, Command command, Consumer<Outcome> next) {
        node.calls().propose(group, command, wanted, next);
    }
}
