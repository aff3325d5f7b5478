// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jgroups.Message;
import org.jgroups.protocols.raft.election.VoteResponse;
import org.jgroups.stack.Protocol;

/** Delays the votes of a member, as a slow disk does. */
final class LateVotes extends Protocol {

    private final Duration delay;
    private final Executor later;

    LateVotes(Duration delay) {
        this.delay = delay;
        later = CompletableFuture.delayedExecutor(delay.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public Object down(Message message) {
        boolean isVote = message.getHeaders().values().stream().anyMatch(VoteResponse.class::isInstance);
        if (delay.isZero() || !isVote) {
            return down_prot.down(message);
        }
        later.execute(() -> down_prot.down(message));
        return null;
    }
}
