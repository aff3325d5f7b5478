// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import org.jspecify.annotations.Nullable;

/**
 * Decides when a node adopts a group that it leads, and when it gives it back to its home: a leader that is not the home reigns when it hears nothing
 * of the home, or the home has not claimed the leadership for some time; and when the home has everything again, it takes no more batches, commits
 * those that wait, and has the home elected.
 */
final class Succession {

    private static final long SILENT_MILLIS = 1_000;
    private static final long PATIENCE_MILLIS = 3_000;
    private static final long RETURN_MILLIS = 2_000;
    private static final long TRANSFER_MILLIS = 1_000;

    private final Node node;

    Succession(Node node) {
        this.node = node;
    }

    void tick() {
        node.members().forEach((group, member) -> {
            if (group != node.id() && group != node.model().register() && member.leads()) {
                lead(group, member);
            }
        });
    }

    private void lead(int home, Raft member) {
        boolean isAway = member.followers().silentMillis(home) > SILENT_MILLIS;
        if (isReady(home, member)) {
            giveBack(home, member, node.model().nanoTime() + TRANSFER_MILLIS * 1_000_000);
        } else if (node.servers().of(home) == null && (isAway || member.ledMillis() > PATIENCE_MILLIS)) {
            node.servers().reign(home);
        }
    }

    private static boolean isReady(int home, Raft member) {
        return member.ledMillis() > RETURN_MILLIS && member.followers().isComplete(home);
    }

    private void giveBack(int home, Raft member, long endNanos) {
        GroupServer server = node.servers().of(home);
        boolean late = node.model().nanoTime() > endNanos;
        if (!member.leads() || late) {
            pause(server, false);
            return;
        }
        pause(server, true);
        if (member.followers().isComplete(home) && (server == null || server.isIdle())) {
            member.transfer(home);
        }
        node.host().after(50, () -> giveBack(home, member, endNanos));
    }

    private static void pause(@Nullable GroupServer server, boolean now) {
        if (server != null) {
            server.pause(now);
        }
    }
}
