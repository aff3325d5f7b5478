// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.spi.BrokerStore;
import io.smqtt.thread.AnyThread;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The stores of other nodes that this one has adopted. */
@AnyThread
public final class Adoptions {

    /** Clients do not wait longer for the sessions of a node. */
    private static final long AWAITED_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final SessionServices services;
    private final SessionTable sessions;
    private final SessionClaims claims;
    private final Map<String, StoreAdoption> byHome = new ConcurrentSkipListMap<>();
    private volatile @Nullable AdoptionWatch watch;
    private final Map<String, Long> unsettled = new ConcurrentHashMap<>();
    private volatile Predicate<Collection<String>> awaited = nodes -> false;

    Adoptions(SessionServices services, SessionTable sessions, SessionClaims claims) {
        this.services = services;
        this.sessions = sessions;
        this.claims = claims;
    }

    /** See {@link SessionRegistry#adopt}. */
    AdoptedStore adopt(String home, long reign, BrokerStore store) {
        Stores own = services.resources().stores();
        if (own == null) {
            throw new IllegalStateException("a broker without a store adopts none");
        }
        unsettled.put(home, System.nanoTime());
        try {
            return read(home, reign, own, store);
        } catch (RuntimeException | Error e) {
            unsettled.remove(home);
            throw e;
        }
    }

    private AdoptedStore read(String home, long reign, Stores own, BrokerStore store) {
        StoreAdoption adoption = new StoreAdoption(services, sessions, claims, own.adopting(home, store), reign);
        try {
            adoption.read().join();
        } catch (RuntimeException e) {
            adoption.forget();
            throw e;
        }
        byHome.put(home, adoption);
        AdoptionWatch present = watch;
        if (present == null) {
            settled(home);
        } else {
            present.adopted(home, reign);
        }
        return new AdoptedStore(this, adoption);
    }

    /** See {@link AdoptedStore#end}. */
    CompletableFuture<Void> end(StoreAdoption adoption, boolean agreed) {
        unsettled.put(adoption.home(), System.nanoTime());
        AdoptionWatch present = watch;
        CompletableFuture<Void> quiet = new CompletableFuture<>();
        if (present == null) {
            quiet.complete(null);
        } else {
            present.ending(adoption.home(), () -> quiet.complete(null));
        }
        CompletableFuture<Void> begun = agreed ? quiet : CompletableFuture.completedFuture(null);
        return begun.thenCompose(none -> adoption.forget()).whenComplete((none, failure) -> {
            byHome.remove(adoption.home(), adoption);
            unsettled.remove(adoption.home());
        });
    }

    /**
     * All nodes send messages for the sessions of an adopted store to this node, and have sent what they kept for them: the sessions may move.
     *
     * @param home the node whose store it is
     */
    public void settled(String home) {
        unsettled.remove(home);
    }

    /**
     * Registers an observer, which gets the adopted stores that there are. Before clients connect.
     *
     * @param observer the observer
     */
    public void watch(AdoptionWatch observer) {
        watch = observer;
        byHome.forEach((home, adoption) -> observer.adopted(home, adoption.reign()));
    }

    /**
     * Sets how to see whether the store of a node that has failed is about to be served, by this node or another one.
     *
     * @param expected is given the nodes that are reached, this one included; must not block
     */
    public void expect(Predicate<Collection<String>> expected) {
        awaited = expected;
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
        return any || awaited.test(nodes);
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
