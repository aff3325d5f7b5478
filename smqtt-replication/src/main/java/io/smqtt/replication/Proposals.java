// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** The entries that wait for a majority, with their limits. Thread-safe; results are completed outside of the lock. */
final class Proposals {

    private final int maxEntries;
    private final long maxBytes;
    private final Set<Proposal> open = new LinkedHashSet<>(); // guarded by this
    private long openBytes; // guarded by this
    private long refused; // guarded by this

    /**
     * Creates limits.
     *
     * @param maxEntries 1 or more
     * @param maxBytes one entry may have more, if it is alone
     */
    Proposals(int maxEntries, long maxBytes) {
        this.maxEntries = maxEntries;
        this.maxBytes = maxBytes;
    }

    /**
     * Adds an entry.
     *
     * @throws GroupOverloadedException if a limit is reached
     */
    synchronized Proposal add(int bytes) {
        if (open.size() >= maxEntries || !open.isEmpty() && openBytes + bytes > maxBytes) {
            refused++;
            throw new GroupOverloadedException(open.size(), openBytes);
        }
        Proposal added = new Proposal(bytes);
        open.add(added);
        openBytes += bytes;
        return added;
    }

    private synchronized boolean remove(Proposal proposal) {
        if (open.remove(proposal)) {
            openBytes -= proposal.bytes;
            return true;
        }
        return false;
    }

    /** Fails all that wait. */
    void failAll(String why) {
        List<Proposal> all;
        synchronized (this) {
            all = new ArrayList<>(open);
        }
        all.forEach(proposal -> proposal.fail(new NotLeadingException(why)));
    }

    /** The number of entries that wait. */
    synchronized int entries() {
        return open.size();
    }

    /** Their bytes. */
    synchronized long bytes() {
        return openBytes;
    }

    /** The number of entries that were refused because of a limit. */
    synchronized long refused() {
        return refused;
    }

    /** One entry. */
    final class Proposal {

        private final int bytes;
        private final CompletableFuture<Long> result = new CompletableFuture<>();

        private Proposal(int bytes) {
            this.bytes = bytes;
        }

        CompletableFuture<Long> result() {
            return result;
        }

        void commit(long index) {
            if (remove(this)) {
                result.complete(index);
            }
        }

        void fail(Throwable cause) {
            if (remove(this)) {
                result.completeExceptionally(cause);
            }
        }
    }
}
