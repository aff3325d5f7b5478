// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The queues of an adopted store that are of no session: delayed messages. This node serves them from the moment on in which its sessions may move, until the
 * store is given back. What is not used up by then stays in the store.
 */
@AnyThread
final class AdoptedQueues {

    private final @Nullable DelayedMessages delayed;
    private final Stores stores;

    // guarded by this
    private @Nullable Found ofDelayed;
    private @Nullable DelayedQueue served;
    private @Nullable CompletableFuture<Void> ended;

    /** A queue that was found in the store. */
    private record Found(StoredSession header, StoredQueue waiting) {}

    /**
     * Creates it without queues.
     *
     * @param delayed the delayed messages of this node; null if it has none
     * @param stores the adopted store
     */
    AdoptedQueues(@Nullable DelayedMessages delayed, Stores stores) {
        this.delayed = delayed;
        this.stores = stores;
    }

    /** A session of the store, which is one of these queues or not. */
    synchronized void found(StoredSession header, StoredQueue waiting) {
        if (DelayedMessages.ID.equals(header.clientId())) {
            ofDelayed = new Found(header, waiting);
        }
    }

    /** Serves the queues from now on. Can be called more than once. */
    synchronized void begin() {
        Found found = ofDelayed;
        if (found != null && delayed != null && ended == null) {
            ofDelayed = null;
            served = delayed.adopt(stores, found.header, found.waiting);
        }
    }

    /**
     * Serves them no more. The result of the first call is that of all.
     *
     * @return completes when nothing of them is on its way any more
     */
    synchronized CompletableFuture<Void> end() {
        CompletableFuture<Void> end = ended;
        if (end == null) {
            DelayedQueue queue = served;
            end = queue == null || delayed == null ? CompletableFuture.completedFuture(null) : delayed.end(queue);
            ended = end;
        }
        return end;
    }
}
