// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.persistence.CommitPath;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The way of a store's batches through its group, while this member leads in the reign of the store. The committing thread waits for a majority;
 * meanwhile the next batch grows.
 *
 * <p>When the leadership ends, the thread waits for the next one for a moment: votes happen when nodes come and go. Without a majority it does not
 * wait: clients are refused at once. A batch that was proposed in a term that has ended is applied before the next one begins, or never. Each batch
 * has a number in its reign, and counts as committed exactly if that number was applied in that reign. One that was not is proposed again with the same number.
 *
 * <p>When the reign has ended, the way is closed for good.
 */
final class GroupCommits implements CommitPath {

    private static final long NONE = 0;
    private static final long LOOK_MILLIS = 100;

    private final Proposer proposer;
    private final Progress progress;
    private final BooleanSupplier hasMajority;
    private final long graceNanos;
    private volatile boolean failing;
    private volatile long committed; // written by the thread that commits
    private volatile long term = NONE; // written under the lock of this, read by event loops without it
    private volatile long reign; // written under the lock of this
    private volatile @Nullable String end; // written under the lock of this
    private @Nullable CompletableFuture<Long> waiting; // guarded by this
    private long lostNanos; // guarded by this
    private long number; // used by the thread that opens the store, then by the committing thread

    /**
     * Creates a way that is closed.
     *
     * @param progress what was applied on this member
     * @param hasMajority whether a majority of the members is connected to this one; does not block
     * @param grace the time after the end of a leadership in which batches wait for the next one
     */
    GroupCommits(Proposer proposer, Progress progress, BooleanSupplier hasMajority, Duration grace) {
        this.proposer = proposer;
        this.progress = progress;
        this.hasMajority = hasMajority;
        this.graceNanos = grace.toNanos();
        this.lostNanos = System.nanoTime() - graceNanos;
    }

    /**
     * Opens the way: this member leads, and has applied all that was committed before.
     *
     * @param ownReign the number of the reign of the store, always the same
     */
    synchronized void lead(long newTerm, long ownReign) {
        if (end == null) {
            reign = ownReign;
            term = newTerm;
            notifyAll();
        }
    }

    /** Closes the way: this member does not lead any more. */
    synchronized void follow() {
        if (term != NONE) {
            term = NONE;
            lostNanos = System.nanoTime();
        }
    }

    /**
     * Closes the way for good. Waiting batches fail.
     *
     * @param why for the one whose batch fails
     */
    synchronized void end(String why) {
        follow();
        end = why;
        CompletableFuture<Long> open = waiting;
        if (open != null) {
            open.completeExceptionally(new NotLeadingException(why));
        }
        notifyAll();
    }

    @Override
    public boolean isOpen() {
        return term != NONE;
    }

    /** Whether it is closed for good. */
    boolean hasEnded() {
        return end != null;
    }

    /** Whether the last batch has failed, so that the store takes nothing before it has written one again. */
    boolean isFailing() {
        return failing;
    }

    /** The number of the last batch that was committed; grows while batches are. */
    long committed() {
        return committed;
    }

    @Override
    public void commit(byte[] batch) throws IOException {
        boolean done = false;
        try {
            commitAs(++number, batch);
            done = true;
            committed = number;
        } finally {
            failing = !done;
        }
    }

    private void commitAs(long own, byte[] batch) throws IOException {
        try {
            long used = NONE;
            boolean done = false;
            while (!done) {
                used = awaitTermAfter(used, own);
                done = used == NONE || isCommitted(used, StoreEntry.batch(reign, own, batch));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while a majority was asked", e);
        }
        if (!progress.isApplied(reign, own)) {
            throw new IOException("the batch is in the log behind the end of this node's reign");
        }
    }

    private boolean isCommitted(long used, byte[] entry) throws InterruptedException, IOException {
        try {
            proposed(used, entry).get();
            return true;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof NotLeadingException) {
                return false;
            }
            Throwable cause = e.getCause();
            throw new IOException(String.valueOf(cause == null ? e : cause.getMessage()), e);
        }
    }

    private CompletableFuture<Long> proposed(long used, byte[] entry) {
        CompletableFuture<Long> result = proposer.propose(used, entry);
        synchronized (this) {
            waiting = result;
            String why = end;
            if (why != null) {
                result.completeExceptionally(new NotLeadingException(why));
            }
        }
        return result;
    }

    /**
     * Waits for another term than that in which a batch has failed.
     *
     * @return the term, or {@link #NONE} if the batch was applied meanwhile, whoever leads
     */
    private synchronized long awaitTermAfter(long used, long own) throws InterruptedException, IOException {
        long failedNanos = System.nanoTime();
        while (!progress.isApplied(reign, own)) {
            if (term != NONE && term != used) {
                return term;
            }
            if (end != null) {
                throw new IOException(end);
            }
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
        return NONE;
    }

    /** Proposes entries, see {@link RaftGroup#propose}. */
    interface Proposer {

        CompletableFuture<Long> propose(long term, byte[] content);
    }

    /** Knows the batches that were applied. Does not block. */
    interface Progress {

        /** Whether the reign is the current one on this member, and this batch of it, or a later one, was applied. */
        boolean isApplied(long reign, long number);
    }
}
