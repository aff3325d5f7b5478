// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.RetainedVersions;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The stores of other nodes that this one has adopted. */
@AnyThread
public final class Adoptions {

    /** Clients do not wait longer for the sessions of a node. */
    private static final long AWAITED_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final SessionServices services;
    private final SessionTable sessions;
    private final SessionClaims claims;
    private final RetainedKeeper retained;
    private final Map<String, StoreAdoption> byHome = new ConcurrentSkipListMap<>();
    private volatile @Nullable AdoptionWatch watch;
    private volatile @Nullable DelayedMessages delayed;
    private final Map<String, Long> unsettled = new ConcurrentHashMap<>();
    private volatile UnservedStores unserved = UnservedStores.NONE;
    private volatile ServedElsewhere servedElsewhere = (server, reign) -> {};

    /** Receives that another node serves the store of this one. */
    public interface ServedElsewhere {

        /**
         * A node serves the store of this one. Must not block.
         *
         * @param server the other node
         * @param reign the number of its reign over the store, which may be earlier than that of this node
         */
        void served(String server, long reign);
    }

    Adoptions(SessionServices services, SessionTable sessions, SessionClaims claims, RetainedKeeper retained) {
        this.retained = retained;
        this.services = services;
        this.sessions = sessions;
        this.claims = claims;
    }

    /** Sets the delayed messages of this node. Before a store is adopted. */
    void delayed(DelayedMessages messages) {
        delayed = messages;
    }

    /** See {@link SessionRegistry#adopt}. */
    AdoptedStore adopt(String home, long reign, BrokerStore store) {
        try {
            return begin(home, reign, store).join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw e;
        }
    }

    /** Reads the store, which blocks; what it returns completes when its sessions are sessions of this node. */
    CompletableFuture<AdoptedStore> begin(String home, long reign, BrokerStore store) {
        Stores own = services.resources().stores();
        if (own == null) {
            throw new IllegalStateException("a broker without a store adopts none");
        }
        unsettled.put(home, System.nanoTime());
        try {
            RetainedVersions versions = retained.versions();
            Stores adopting = own.adopting(home, store);
            StoreAdoption adoption = new StoreAdoption(
                    services,
                    sessions,
                    claims,
                    own,
                    adopting,
                    reign,
                    watch != null,
                    versions == null ? null : versions.merging(home),
                    new AdoptedQueues(services, delayed, adopting));
            return adoption.read().handle((none, failure) -> {
                if (failure != null) {
                    unsettled.remove(home);
                    adoption.forget();
                    throw new CompletionException(
                            failure instanceof CompletionException ? failure.getCause() : failure);
                }
                return adopted(adoption);
            });
        } catch (RuntimeException | Error e) {
            unsettled.remove(home);
            throw e;
        }
    }

    private AdoptedStore adopted(StoreAdoption adoption) {
        String home = adoption.home();
        byHome.put(home, adoption);
        adoption.mergeRetained();
        AdoptionWatch present = watch;
        if (present == null) {
            sentOn(home);
            settled(home);
        } else {
            present.adopted(home, adoption.reign(), adoption.leftOut(), adoption.parked());
        }
        return new AdoptedStore(this, adoption);
    }

    /** See {@link AdoptedStore#end}. */
    CompletableFuture<Void> end(StoreAdoption adoption) {
        unsettled.put(adoption.home(), System.nanoTime());
        adoption.endQueues();
        AdoptionWatch present = watch;
        CompletableFuture<Void> quiet = new CompletableFuture<>();
        if (present == null) {
            quiet.complete(null);
        } else {
            present.ending(adoption.home(), () -> quiet.complete(null));
        }
        return quiet.thenCompose(none -> forget(adoption));
    }

    /** See {@link AdoptedStore#forget}. */
    CompletableFuture<Void> forget(StoreAdoption adoption) {
        unsettled.putIfAbsent(adoption.home(), System.nanoTime());
        return adoption.forget().whenComplete((none, failure) -> {
            if (byHome.remove(adoption.home(), adoption)) {
                unsettled.remove(adoption.home());
            }
        });
    }

    /**
     * The messages that this node had parked for the node of an adopted store have come to its sessions: newer ones may follow.
     *
     * @param home the node whose store it is
     */
    public void sentOn(String home) {
        StoreAdoption adoption = byHome.get(home);
        if (adoption != null) {
            adoption.sentOn();
        }
    }

    /**
     * All nodes send messages for the sessions of an adopted store to this node, and have sent what they kept for them: the sessions may move.
     *
     * @param home the node whose store it is
     */
    public void settled(String home) {
        unsettled.remove(home);
        StoreAdoption adoption = byHome.get(home);
        if (adoption != null) {
            adoption.sentOn();
            adoption.settled();
        }
    }

    /** Whether the queue of a group in an adopted store, or a member that was there, has taken a message. */
    boolean hasTaken(long messageId, SharedFilter group) {
        for (StoreAdoption adoption : byHome.values()) {
            if (adoption.hasTaken(messageId, group)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether a session may move to another store. One of an adopted store may not before that is {@link #settled}: messages that other nodes keep for it
     * would not find it.
     *
     * @param session a session of this node
     * @return true for one of this node's own store, or without a store
     */
    public boolean mayMove(Session session) {
        String home = session.home();
        return home == null || !unsettled.containsKey(home);
    }

    /**
     * Sets what is called when another node says that it serves the store of this one. Before clients connect.
     *
     * @param receiver the receiver, called on any thread
     */
    public void whenServedElsewhere(ServedElsewhere receiver) {
        servedElsewhere = receiver;
    }

    /**
     * Another node serves the store of this one.
     *
     * @param server the other node
     * @param reign the number of its reign over the store
     */
    public void servedElsewhere(String server, long reign) {
        servedElsewhere.served(server, reign);
    }

    /**
     * Registers an observer, which gets the adopted stores that there are. Before clients connect.
     *
     * @param observer the observer
     */
    public void watch(AdoptionWatch observer) {
        watch = observer;
        byHome.forEach(
                (home, adoption) -> observer.adopted(home, adoption.reign(), adoption.leftOut(), adoption.parked()));
    }

    /**
     * Sets what is known of stores that no node serves. Before clients connect.
     *
     * @param stores the stores of other nodes, as this one knows them
     */
    public void expect(UnservedStores stores) {
        unserved = stores;
    }

    /**
     * The lookup of sessions in stores that no node serves.
     *
     * @return {@link UnservedStores#NONE} without replicas
     */
    public UnservedStores unserved() {
        return unserved;
    }

    /**
     * Whether sessions may be found in a moment that no node serves now: a store is being adopted, or given back.
     *
     * @param nodes the nodes that are reached, this one included
     * @return false if all sessions that can be served are served
     */
    public boolean isAwaited(Collection<String> nodes) {
        long now = System.nanoTime();
        boolean any = unsettled.values().stream().anyMatch(since -> now - since < AWAITED_NANOS);
        return any || unserved.isAwaited(nodes);
    }

    /**
     * The adopted stores.
     *
     * @return the number of sessions that are still in each of them, by the node of the store
     */
    public Map<String, Integer> sessions() {
        Map<String, Integer> all = new TreeMap<>();
        byHome.forEach((home, adoption) -> all.put(home, adoption.size()));
        return all;
    }

    /**
     * The nodes whose stores are adopted.
     *
     * @return their names
     */
    public List<String> homes() {
        return List.copyOf(byHome.keySet());
    }
}
