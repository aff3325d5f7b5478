// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.util.concurrent.CompletionException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reign of this run of a node over a group, with which it serves the store of the group.
 *
 * <p>It begins with an entry that this member proposes when it leads and is wanted to serve. It lasts until there is such an entry of another run: a
 * leadership that ends, and comes back without one, changes nothing. When it is over it does not begin again: what it has in memory is not what the rows have.
 * If the store is that of this node, the node has to be started again; that of another node can be served again by a reign with another run.
 *
 * <p>Thread-safe. Neither blocks nor calls others with its lock held, but for {@link GroupCommits}.
 */
final class OwnReign {

    private static final Logger LOG = LoggerFactory.getLogger(OwnReign.class);
    private static final long NONE = 0;

    private final String group;
    private final Reign own;
    private final GroupCommits commits;
    private final GroupCommits.Proposer proposer;
    private final LongSupplier current;
    private final Listener listener;
    private final boolean restarts;
    private long term = NONE; // guarded by this
    private long proposedTerm = NONE; // guarded by this
    private long number = NONE; // guarded by this
    private boolean wanted; // guarded by this
    private volatile @Nullable String end; // written under the lock of this

    /**
     * Creates a reign that has not begun.
     *
     * @param group the name of the group, for the log
     * @param commits opened while this member leads in this reign
     * @param proposer proposes the entry
     * @param current the number of the last reign that was applied on this member; does not block
     */
    OwnReign(
            String group,
            Reign own,
            GroupCommits commits,
            GroupCommits.Proposer proposer,
            LongSupplier current,
            Listener listener) {
        this(group, own, commits, proposer, current, listener, true);
    }

    /**
     * The same for another node's store, too.
     *
     * @param restarts whether this node has to be started again when the reign is over, because the store is its own
     */
    OwnReign(
            String group,
            Reign own,
            GroupCommits commits,
            GroupCommits.Proposer proposer,
            LongSupplier current,
            Listener listener,
            boolean restarts) {
        this.restarts = restarts;
        this.group = group;
        this.own = own;
        this.commits = commits;
        this.proposer = proposer;
        this.current = current;
        this.listener = listener;
    }

    /** This member is to serve the store: it begins to reign as soon as it leads. Can be called more than once. */
    void want() {
        synchronized (this) {
            wanted = true;
        }
        beginIfDue();
    }

    /** This member is not to serve any more, unless it has begun to reign. */
    synchronized void wantNot() {
        wanted = false;
    }

    /** This member leads, and has applied all that was committed before. */
    void leads(long newTerm) {
        String over = null;
        boolean continues = false;
        synchronized (this) {
            term = newTerm;
            long last = current.getAsLong();
            if (number != NONE && end == null) {
                if (last == number) {
                    commits.lead(newTerm, number);
                    continues = true;
                } else {
                    over = "another node has served this store since entry " + last;
                }
            }
        }
        if (over != null) {
            end(over);
        } else if (continues) {
            listener.opened();
        } else {
            beginIfDue();
        }
    }

    /** This member does not lead any more. */
    synchronized void follows() {
        term = NONE;
        commits.follow();
    }

    private void beginIfDue() {
        long in;
        synchronized (this) {
            in = term;
            if (!wanted || in == NONE || proposedTerm == in || number != NONE || end != null) {
                return;
            }
            proposedTerm = in;
        }
        proposer.propose(in, StoreEntry.begin(own)).whenComplete((index, failure) -> proposed(in, failure));
    }

    private void proposed(long in, @Nullable Throwable failure) {
        synchronized (this) {
            if (failure != null) {
                proposedTerm = proposedTerm == in ? NONE : proposedTerm;
                Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
                LOG.debug("the reign over the group {} did not begin: {}", group, String.valueOf(cause));
                return;
            }
            if (term != in || number == NONE || number != current.getAsLong()) {
                return; // the leadership has ended meanwhile
            }
            commits.lead(in, number);
        }
        listener.opened();
    }

    /**
     * The entry of a reign was applied on this member.
     *
     * @param entry its index
     */
    void applied(long entry, Reign reign) {
        synchronized (this) {
            if (reign.equals(own)) {
                number = entry;
                return;
            }
            if (number == NONE) {
                return; // before this one
            }
        }
        end("node " + reign.node() + " serves this store since entry " + entry);
    }

    /**
     * The rows of this member are those of another one.
     *
     * @param entry the number of the last reign that was applied to them
     */
    void found(long entry) {
        synchronized (this) {
            if (number == NONE || number == entry) {
                return; // it has not begun, or is part of them
            }
        }
        end("another node has served this store since entry " + entry);
    }

    /**
     * Another node says that it serves the store, which this member may not have heard yet from the others.
     *
     * @param node its name
     * @param entry the index of the entry with which it has begun; an earlier one than that of this reign is late
     */
    void servedBy(String node, long entry) {
        synchronized (this) {
            if (number == NONE || entry <= number) {
                return;
            }
        }
        end("node " + node + " serves this store since entry " + entry);
    }

    /**
     * Ends this reign: what waits fails, and it does not begin again.
     *
     * @param why the reason
     */
    void end(String why) {
        synchronized (this) {
            if (end != null) {
                return;
            }
            end = restarts ? why + "; start this node again" : why;
            commits.end(why);
        }
        if (restarts) {
            LOG.error("the store {} is not served by this node any more: {}; start this node again", group, why);
        } else {
            LOG.info("the store of node {} is not served by this node any more: {}", group, why);
        }
        listener.ended();
    }

    /** Ends this reign, whose store is closed: it is given back. */
    synchronized void giveBack() {
        if (end == null) {
            end = "it was given back";
            commits.end("it was given back");
        }
    }

    /** Why it has ended, with what to do; null if it has not. */
    @Nullable
    String ended() {
        return end;
    }

    /** Receives what becomes of the reign. Must not block. */
    interface Listener {

        /** Batches are taken. */
        void opened();

        /** They never are again. Called once. */
        void ended();
    }
}
