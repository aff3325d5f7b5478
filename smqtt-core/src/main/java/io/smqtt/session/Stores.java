// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.BrokerStore;
import io.smqtt.thread.AnyThread;
import java.util.List;

/** The store of a broker, and the writes of its event loops. */
@AnyThread
public final class Stores {

    private final BrokerStore store;
    private final List<StoreLoop> loops;
    private final boolean waits;

    /**
     * Combines a store and the event loops.
     *
     * @param store the store
     * @param loops one for each event loop, in the order of the router's loops
     * @param waits whether acknowledgements may wait for the store; false if none ever does
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
     * The writes of an event loop.
     *
     * @param loop the loop
     * @return the writes, to be used on that loop only
     */
    public StoreLoop of(RoutingLoop loop) {
        return loops.get(loop.index());
    }

    /** Opens the writers, after the store was read. */
    void open() {
        loops.forEach(loop -> loop.open(store));
    }

    /**
     * Whether acknowledgements may wait for the store.
     *
     * @return false if acknowledgements leave at once
     */
    public boolean waits() {
        return waits;
    }
}
