// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A claim of a session for a group that this node serves: an epoch from the register, the session sealed where it is, installed here, and settled in
 * the register. Each step is an entry of a log. A claim that stops between two of them is overtaken by a later one.
 */
final class Claiming {

    /**
     * A claim that is settled.
     *
     * @param present whether there was a session
     */
    record Claim(long epoch, boolean present) {}

    private final Node node;
    private final GroupServer target;
    private final String client;
    private final BooleanSupplier wanted;
    private final Consumer<@Nullable Claim> done;
    private long epoch;
    private int from;

    private Claiming(
            Node node, GroupServer target, String client, BooleanSupplier wanted, Consumer<@Nullable Claim> done) {
        this.node = node;
        this.target = target;
        this.client = client;
        this.wanted = () -> !target.hasEnded() && wanted.getAsBoolean();
        this.done = done;
    }

    /**
     * Claims a session.
     *
     * @param target the server of the group that gets it
     * @param token the same for all copies of the claim
     * @param done receives null if the claim was overtaken, or the session is not where it was
     */
    static void begin(
            Node node,
            GroupServer target,
            String client,
            String token,
            BooleanSupplier wanted,
            Consumer<@Nullable Claim> done) {
        Claiming claiming = new Claiming(node, target, client, wanted, done);
        int register = node.model().register();
        node.calls().ask(register, new Command.Claim(client, token), claiming.wanted, claiming::claimed);
    }

    private void claimed(Outcome claimed) {
        epoch = claimed.number();
        from = claimed.group();
        Change seal = new Change.Seal(client, epoch);
        if (from == Register.NONE) {
            install(null);
        } else if (from == target.group()) {
            submit(seal, this::sealed);
        } else {
            node.calls().ask(from, seal, wanted, this::sealed);
        }
    }

    private void sealed(Outcome sealed) {
        if (sealed.accepted()) {
            install(sealed.rows());
        } else {
            done.accept(null);
        }
    }

    private void install(@Nullable SessionRows rows) {
        submit(new Change.Install(client, epoch, rows), installed -> {
            if (installed.accepted()) {
                settle(rows != null);
            } else {
                done.accept(null);
            }
        });
    }

    private void settle(boolean present) {
        Command settle = new Command.Settle(client, epoch, target.group());
        node.calls().ask(node.model().register(), settle, wanted, settled -> {
            if (!settled.accepted()) {
                done.accept(null);
                return;
            }
            if (from != Register.NONE && from != target.group()) {
                node.model().audit().moved();
                node.calls().ask(from, new Change.Drop(client, epoch), () -> !target.hasEnded(), dropped -> {});
            }
            done.accept(new Claim(epoch, present));
        });
    }

    private void submit(Change change, Consumer<Outcome> next) {
        target.submit(change, outcome -> {
            if (wanted.getAsBoolean()) {
                next.accept(outcome);
            }
        });
    }
}
