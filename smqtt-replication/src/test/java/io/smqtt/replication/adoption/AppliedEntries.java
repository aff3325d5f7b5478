// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/** The state of a member: all entries of its log up to one. */
final class AppliedEntries {

    private record Waiting(long term, Consumer<Outcome> done) {}

    private final Model model;
    private final Node node;
    private final int group;
    private final Disk disk;
    private final State state;
    private final Map<Long, Waiting> waiting = new HashMap<>();
    private long index;

    AppliedEntries(Node node, int group, Disk disk) {
        this.model = node.model();
        this.node = node;
        this.group = group;
        this.disk = disk;
        state = group == model.register() ? new Register(model.mistake()) : new GroupState(model.mistake());
    }

    State state() {
        return state;
    }

    /** The index of the last entry. */
    long index() {
        return index;
    }

    /** Awaits the last entry of the log, which this member has proposed. */
    void await(Consumer<Outcome> done) {
        waiting.put(disk.lastIndex(), new Waiting(disk.term, done));
    }

    /** The leadership has ended. */
    void awaitNothing() {
        waiting.clear();
    }

    /** Applies the next entry. */
    void applyNext(boolean leader) {
        index++;
        Disk.Entry entry = disk.entry(index);
        Command command = entry.command();
        boolean isNew = index > disk.applied;
        boolean isLast = index == disk.applied;
        disk.applied = Math.max(disk.applied, index);
        if (isNew && leader && entry.term() < disk.term && model.has(Mistake.COMMIT_DROPPED)) {
            return;
        }
        Outcome outcome = state.apply(index, command);
        if (isLast && model.has(Mistake.APPLIED_TWICE)) {
            state.applyAgain(command);
        }
        if (command instanceof Command.Admit admit && admit.member() == node.id() && admit.disk() == disk.number()) {
            disk.voter = true;
        }
        Waiting waiter = waiting.remove(index);
        node.applied(group, index, command, outcome);
        if (waiter != null && waiter.term() == entry.term()) {
            waiter.done().accept(outcome);
        }
    }
}
