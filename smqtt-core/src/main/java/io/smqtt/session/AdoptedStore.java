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
     * Forgets the sessions. They stay in the store, which may be closed after that: another node serves it.
     *
     * @param agreed whether other nodes are to send nothing more for them before; false if this node cannot store anything any more
     * @return completes on any thread when they are forgotten, and what was submitted to the store is all
     */
    public CompletableFuture<Void> end(boolean agreed) {
        return adoptions.end(adoption, agreed);
    }
}
