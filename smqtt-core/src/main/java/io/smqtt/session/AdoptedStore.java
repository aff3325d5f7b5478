// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.AnyThread;
import java.util.concurrent.CompletableFuture;

/** The store of another node, with the sessions that this node has adopted. */
@AnyThread
public final class AdoptedStore {

    private final Adoptions adoptions;
    private final StoreAdoption adoption;

    AdoptedStore(Adoptions adoptions, StoreAdoption adoption) {
        this.adoptions = adoptions;
        this.adoption = adoption;
    }

    /**
     * The number of sessions that were found.
     *
     * @return sessions, those that have moved or ended since included
     */
    public int sessions() {
        return adoption.found();
    }

    /**
     * The store takes nothing any more. The sessions stay, and refuse messages, until {@link #end} is complete: other nodes may send some for them, which must
     * not be acknowledged.
     */
    public void refuse() {
        adoption.refuse();
    }

    /**
     * Forgets the sessions when no other node sends messages for them any more. They stay in the store, which may be closed after that: another node serves it.
     * Called once.
     *
     * @return completes on any thread when they are forgotten, and what was submitted to the store is all; not before all nodes that are reached have answered
     */
    public CompletableFuture<Void> end() {
        return adoptions.end(adoption);
    }

    /**
     * Forgets the sessions at once, because this node stops. May be called while {@link #end} is not complete.
     *
     * @return completes on any thread when they are forgotten, and what was submitted to the store is all
     */
    public CompletableFuture<Void> forget() {
        return adoptions.forget(adoption);
    }
}
