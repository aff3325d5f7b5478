// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The queues of an adopted store that are of no session: delayed messages, and queues of shared groups. This node serves them from the moment on in which its sessions may move, until the
 * store is given back. What is not used up by then stays in the store.
 */
@AnyThread
final class AdoptedQueues {

    private final @Nullable DelayedMessages delayed;
    private final AdoptedGroups groups;
    private final Stores stores;

    // guarded by this
    private boolean begun;
    private @Nullable Found ofDelayed;
    private @Nullable DelayedQueue served;
    private @Nullable CompletableFuture<Void> ended;

    /** A queue that was found in the store. */
    private record Found(StoredSession header, StoredQueue waiting) {}

    /**
     * Creates it without queues.
     *
     * @param services the queues of shared groups of this node
     * @param delayed the delayed messages of this node; null if it has none
     * @param stores the adopted store
     */
    AdoptedQueues(SessionServices services, @Nullable DelayedMessages delayed, Stores stores) {
        this.groups = new AdoptedGroups(services.resources(), services.groups(), stores);
        this.delayed = delayed;
        this.stores = stores;
    }

    /** A session of the store, which is one of these queues or not. */
    synchronized void found(StoredSession header, StoredQueue waiting) {
        if (DelayedMessages.ID.equals(header.clientId())) {
            ofDelayed = new Found(header, waiting);
        }
        SharedFilter group = GroupRecord.group(header.clientId());
        if (group != null && waiting.messages() > 0) {
            groups.add(group, header.number());
        }
    }

    /** Serves the queues from now on. Can be called more than once. */
    synchronized void begin() {
        if (begun || ended != null) {
            return;
        }
        begun = true;
        groups.begin();
        Found found = ofDelayed;
        if (found != null && delayed != null) {
            served = delayed.adopt(stores, found.header, found.waiting);
        }
    }

    /**
     * Serves them no more. The result of the first call is that of all.
     *
     * @return completes when nothing of them is in flight any more
     */
    synchronized CompletableFuture<Void> end() {
        CompletableFuture<Void> end = ended;
        if (end == null) {
            DelayedQueue queue = served;
            CompletableFuture<Void> none = CompletableFuture.completedFuture(null);
            end = CompletableFuture.allOf(
                    queue == null || delayed == null ? none : delayed.end(queue), begun ? groups.end() : none);
            ended = end;
        }
        return end;
    }
}
