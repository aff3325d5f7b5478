// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Engines with one mistake each. */
final class FaultyEngines {

    private FaultyEngines() {}

    /** The engine that makes this mistake; the correct one if it is not the engine's. */
    static Consensus.Engine of(@Nullable Mistake mistake) {
        if (mistake == Mistake.COMMIT_DROPPED) {
            return Dropping::new;
        } else if (mistake == Mistake.COMMIT_APPLIED_TWICE) {
            return Repeating::new;
        } else if (mistake == Mistake.ANSWERED_BEFORE_COMMIT) {
            return Eager::new;
        } else if (mistake == Mistake.WIPED_NODE_VOTES) {
            return Voting::new;
        }
        return Raft::new;
    }

    private static boolean seldom(Node node) {
        return node.model().random().nextInt(400) == 0;
    }

    private static final class Dropping extends Raft {

        private final Node node;

        Dropping(Node node, int group, Disk disk) {
            super(node, group, disk);
            this.node = node;
        }

        @Override
        void apply(long index, Disk.Entry entry) {
            if (leads() || !seldom(node)) {
                super.apply(index, entry);
            }
        }
    }

    private static final class Repeating extends Raft {

        private final Node node;

        Repeating(Node node, int group, Disk disk) {
            super(node, group, disk);
            this.node = node;
        }

        @Override
        void apply(long index, Disk.Entry entry) {
            super.apply(index, entry);
            if (seldom(node)) {
                state().apply(entry.command());
            }
        }
    }

    private static final class Eager extends Raft {

        Eager(Node node, int group, Disk disk) {
            super(node, group, disk);
        }

        @Override
        public void propose(Command command, Consumer<Outcome> done) {
            if (!leads()) {
                return;
            }
            super.propose(command, outcome -> {});
            GroupState ahead = state().copy();
            Outcome last = Outcome.REFUSED;
            for (long index = applied() + 1; index <= disk.lastIndex(); index++) {
                last = ahead.apply(disk.entry(index).command());
            }
            done.accept(last);
        }
    }

    private static final class Voting extends Raft {

        Voting(Node node, int group, Disk disk) {
            super(node, group, disk);
            disk.voter = true;
        }
    }
}
