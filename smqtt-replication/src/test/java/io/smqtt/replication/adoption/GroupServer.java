// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The store of a group on the node that serves it, from its {@link Command.Reign} to that of another run. When the leadership ends its batches wait;
 * they are proposed again if the node leads again and no other run has reigned in between.
 */
final class GroupServer {

    private static final class Batch {

        private final Change change;
        private final Consumer<Outcome> done;
        private @Nullable Outcome outcome;
        private long committedNanos;

        private Batch(Change change, Consumer<Outcome> done) {
            this.change = change;
            this.done = done;
        }
    }

    private final Servers servers;
    private final Node node;
    private final int group;
    private final Raft raft;
    private final Map<Long, Batch> batches = new LinkedHashMap<>();
    private long reign;
    private long numbers;
    private boolean open = true;
    private boolean paused;
    private boolean ended;
    private long suspendedNanos;

    GroupServer(Servers servers, Node node, int group, long reign) {
        this.servers = servers;
        this.node = node;
        this.group = group;
        raft = node.member(group);
        this.reign = reign;
    }

    int group() {
        return group;
    }

    long reign() {
        return reign;
    }

    GroupState state() {
        return (GroupState) raft.state();
    }

    /** Whether it takes questions. */
    boolean isOpen() {
        return open && !paused && !ended;
    }

    boolean isIdle() {
        return batches.isEmpty();
    }

    boolean hasEnded() {
        return ended;
    }

    /** Whether it has not led for some time. */
    boolean isSuspendedFor(long millis) {
        return !open && node.model().nanoTime() - suspendedNanos > millis * 1_000_000;
    }

    /** Commits a change, now or when it leads again. */
    void submit(Change change, Consumer<Outcome> done) {
        if (ended) {
            return;
        }
        if (!open && servers.isFormerAdopter(group)) {
            SessionRows rows = state().session(change.client());
            Outcome outcome = rows == null ? Outcome.REFUSED : answerFromMemory(change, rows);
            complete(new Batch(change, done), outcome, node.model().nanoTime());
            return;
        }
        batches.put(++numbers, new Batch(change, done));
        if (open) {
            propose(numbers, change);
        }
    }

    private static Outcome answerFromMemory(Change change, SessionRows rows) {
        return change instanceof Change.Seal seal
                ? Outcome.sealed(new SessionRows(seal.client(), seal.epoch(), rows, true))
                : Outcome.ACCEPTED;
    }

    private void propose(long number, Change change) {
        raft.propose(new Command.Batch(reign, number, change), outcome -> {});
    }

    /** A batch was applied on this node. */
    void applied(Command.Batch applied, Outcome outcome, long committedNanos) {
        Batch batch = applied.reign() == reign ? batches.get(applied.number()) : null;
        if (batch != null && raft.leads() && open) {
            batches.remove(applied.number());
            complete(batch, outcome, committedNanos);
        } else if (batch != null) {
            batch.outcome = outcome;
            batch.committedNanos = committedNanos;
        }
    }

    /** No new questions: the home is to get the leadership. */
    void pause(boolean now) {
        paused = now;
    }

    void suspend() {
        open = false;
        paused = false;
        suspendedNanos = node.model().nanoTime();
    }

    /** It leads again in the same reign. What was proposed before is applied by now, or never will be. */
    void resume() {
        open = true;
        paused = false;
        List<Long> numbersBefore = new ArrayList<>(batches.keySet());
        for (long number : numbersBefore) {
            Batch batch = batches.get(number);
            if (batch == null) {
                continue;
            }
            Outcome outcome = batch.outcome;
            if (outcome == null) {
                propose(number, batch.change);
            } else {
                batches.remove(number);
                complete(batch, outcome, batch.committedNanos);
            }
        }
    }

    private void complete(Batch batch, Outcome outcome, long committedNanos) {
        Change change = batch.change;
        boolean ofClaim =
                change instanceof Change.Install || change instanceof Change.Seal || change instanceof Change.Drop;
        if (outcome.accepted() && !ofClaim) {
            node.model().audit().served(change, reign, node.id(), committedNanos);
        }
        batch.done.accept(outcome);
    }

    /** Mistake: goes on in another reign, as if what others have applied were its own. */
    void resumeAs(long nextReign) {
        List<Batch> before = new ArrayList<>(batches.values());
        batches.clear();
        reign = nextReign;
        numbers = 0;
        open = true;
        before.forEach(batch -> complete(batch, Outcome.ACCEPTED, node.model().nanoTime()));
    }

    /** Another run reigns, or this one was without a majority for too long: nothing is answered any more. */
    void end() {
        ended = true;
        batches.clear();
    }
}
