// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredSession;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A store, and the writes of the event loops to it: the store of the broker, or that of another node whose sessions this one has adopted. */
@AnyThread
public final class Stores {

    /** The size of a page that is read or removed. */
    static final int PAGE_MESSAGES = 256;

    static final int PAGE_BYTES = 256 * 1024;

    /** The session expiry interval of a session that does not expire. */
    static final long ENDLESS_SECONDS = 0xFFFF_FFFFL;

    private final BrokerStore store;
    private final List<StoreLoop> loops;
    private final boolean waits;
    private final @Nullable String home;
    private final TakenBefore takenBefore = new TakenBefore();

    /** Whether the clients' next QoS 2 messages have identifiers in the store. */
    private volatile boolean numbersExchanges;

    /** Receives the messages of other nodes that sessions have taken, and that could not be stored; null without a cluster. */
    private volatile @Nullable DeliveryHistory history;

    /**
     * Combines a store and the event loops.
     *
     * @param store the store
     * @param loops one for each event loop, in the order of the router's loops
     * @param waits whether acknowledgements may wait for the store; false if none ever does
     */
    public Stores(BrokerStore store, List<StoreLoop> loops, boolean waits) {
        this(store, loops, waits, null);
    }

    private Stores(BrokerStore store, List<StoreLoop> loops, boolean waits, @Nullable String home) {
        this.store = store;
        this.loops = List.copyOf(loops);
        this.waits = waits;
        this.home = home;
    }

    /**
     * Combines the store of another node with the event loops of this one.
     *
     * @param home the other node
     * @param adopted its store
     */
    Stores adopting(String home, BrokerStore adopted) {
        Stores stores =
                new Stores(adopted, loops.stream().map(StoreLoop::another).toList(), waits, home);
        stores.history = history;
        return stores;
    }

    /** The node whose store this is; null if it is the broker's own. */
    @Nullable
    String home() {
        return home;
    }

    /** Whether another node may serve the sessions of this store, unless a commit has just shown that this one does. */
    boolean mayBeServedElsewhere() {
        return home != null || store.mayBeServedElsewhere();
    }

    /** Nothing that fails from now on is tried again. On each event loop. */
    @OnEventLoop
    void end(RoutingLoop loop) {
        of(loop).end();
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

    /** The time when a session ends whose client is offline from now on, by the store's clock. */
    long expiresAtMillis(long expirySeconds) {
        return expirySeconds == ENDLESS_SECONDS
                ? StoredSession.NEVER
                : store.clockMillis() + TimeUnit.SECONDS.toMillis(expirySeconds);
    }

    /** Opens the writers, after the store was read. */
    void open() {
        List<TakenNotes> notes = takenBefore.open(loops.size());
        for (int i = 0; i < notes.size(); i++) {
            int loop = i;
            notes.get(i).onLost(delivery -> lost(loop, delivery));
            loops.get(i).open(store, notes.get(i));
        }
    }

    private void lost(int loop, long delivery) {
        DeliveryHistory known = history;
        if (known != null) {
            known.lostNoted(loop, delivery);
        }
    }

    /** A session has taken a message, which could not be stored. On the session's event loop. */
    @OnEventLoop
    void lost(SessionContext session, StoredMessage message) {
        DeliveryHistory known = history;
        if (known != null) {
            known.lost(session.owner(), session.key(), TakenMessages.idOf(message));
        }
    }

    /**
     * From now on the next QoS 2 messages of clients have identifiers in the store: on nodes of a cluster.
     *
     * @param taken what sessions have taken lately
     */
    void numberExchanges(DeliveryHistory taken) {
        history = taken;
        numbersExchanges = true;
    }

    boolean numbersExchanges() {
        return numbersExchanges;
    }

    /** The messages of other nodes that the sessions had taken before the start. */
    TakenBefore takenBefore() {
        return takenBefore;
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
