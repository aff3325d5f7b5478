// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.BrokerStore;
import io.smqtt.thread.AnyThread;
import java.util.List;

/** The store of a broker, and what its event loops write to it. */
@AnyThread
public final class Stores {

    private final BrokerStore store;
    private final List<StoreLoop> loops;
    private final boolean waits;

    /**
     * Brings store and event loops together.
     *
     * @param store the store
     * @param loops one for each event loop, in the order of the router's loops
     * @param waits whether anything waits for the store; false if the broker is not to wait at all
     */
    public Stores(BrokerStore store, List<StoreLoop> loops, boolean waits) {
        this.store = store;
        this.loops = List.copyOf(loops);
        this.waits = waits;
    }

    /**
     * The store itself.
     *
     * @return the store
     */
    public BrokerStore store() {
        return store;
    }

    /**
     * What an event loop writes.
     *
     * @param loop the loop
     * @return to be used on that loop only
     */
    public StoreLoop of(RoutingLoop loop) {
        return loops.get(loop.index());
    }

    /** Opens the writers, once the store was read. */
    void open() {
        loops.forEach(loop -> loop.open(store));
    }

    /**
     * Whether anything waits for the store.
     *
     * @return false if acknowledgements leave at once
     */
    public boolean waits() {
        return waits;
    }
}
