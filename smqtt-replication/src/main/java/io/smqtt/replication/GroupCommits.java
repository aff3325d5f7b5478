// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.persistence.CommitPath;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * The way of a store's batches through its group, while this member leads. The committing thread waits for a majority; meanwhile the next batch
 * grows.
 *
 * <p>When the leadership ends, the thread waits for the next one for a moment: votes happen when nodes come and go. Without a majority it does not
 * wait: clients are refused at once. A batch that was proposed in a term that has ended is applied before the next one begins, or never, so the
 * number of the last applied batch tells whether it was committed.
 */
final class GroupCommits implements CommitPath {

    private static final long NONE = 0;
    private static final long LOOK_MILLIS = 100;

    private final Proposer proposer;
    private final LongSupplier applied;
    private final BooleanSupplier hasMajority;
    private final long graceNanos;
    private volatile boolean failing;
    private volatile long term = NONE; // written under the lock of this, read by event loops without it
    private long lostNanos; // guarded by this

    /**
     * Creates a way that is closed.
     *
     * @param applied the number of the last batch that was applied on this member
     * @param hasMajority whether a majority of the members is connected to this one; does not block
     * @param grace the time after the end of a leadership in which batches wait for the next one
     */
    GroupCommits(Proposer proposer, LongSupplier applied, BooleanSupplier hasMajority, Duration grace) {
        this.proposer = proposer;
        this.applied = applied;
        this.hasMajority = hasMajority;
        this.graceNanos = grace.toNanos();
        this.lostNanos = System.nanoTime() - graceNanos;
    }

    /** Opens the way: this member leads, and has applied all that was committed before. */
    synchronized void lead(long newTerm) {
        term = newTerm;
        notifyAll();
    }

    /** Closes the way: this member does not lead any more. */
    synchronized void follow() {
        if (term != NONE) {
            term = NONE;
            lostNanos = System.nanoTime();
        }
    }

    @Override
    public boolean isOpen() {
        return term != NONE;
    }

    /** Whether the last batch has failed, so that the store takes nothing before it has written one again. */
    boolean isFailing() {
        return failing;
    }

    @Override
    public void commit(byte[] batch) throws IOException {
        boolean done = false;
        try {
            commitEntry(StoreState.encode(batch));
            done = true;
        } finally {
            failing = !done;
        }
    }

    private void commitEntry(byte[] entry) throws IOException {
        long before = applied.getAsLong();
        try {
            long used = NONE;
            while (true) {
                used = awaitTermAfter(used);
                if (applied.getAsLong() != before || isCommitted(used, entry)) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while a majority was asked", e);
        }
    }

    private boolean isCommitted(long used, byte[] entry) throws InterruptedException, IOException {
        try {
            proposer.propose(used, entry).get();
            return true;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof NotLeadingException) {
                return false;
            }
            Throwable cause = e.getCause();
            throw new IOException(String.valueOf(cause == null ? e : cause.getMessage()), e);
        }
    }

    /** Returns the current term if it is another one than that in which a batch has failed; waits for it. */
    private synchronized long awaitTermAfter(long used) throws InterruptedException, IOException {
        long failedNanos = System.nanoTime();
        while (term == NONE || term == used) {
            long sinceNanos = System.nanoTime() - (term == used ? failedNanos : lostNanos);
            long leftMillis = TimeUnit.NANOSECONDS.toMillis(graceNanos - sinceNanos);
            if (!hasMajority.getAsBoolean()) {
                throw new IOException("this node reaches no majority of its replicas");
            }
            if (leftMillis <= 0) {
                throw new IOException("this node does not lead its group of replicas");
            }
            wait(Math.min(leftMillis, LOOK_MILLIS));
        }
        return term;
    }

    /** Proposes entries, see {@link RaftGroup#propose}. */
    interface Proposer {

        CompletableFuture<Long> propose(long term, byte[] content);
    }
}
