// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.session.AdoptedStore;
import io.smqtt.session.SessionRegistry;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoreUnavailableException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Adopts the store of another node while this one leads its group and that node is away, and gives it back when that node asks for the leadership.
 *
 * <p>Its thread begins the reign, opens the store, and lets the broker adopt its sessions. To give it back, the broker asks all nodes to send nothing more for
 * them, and forgets them; what was submitted is committed, and the store is closed; only then the leadership goes to the home. If that takes longer than
 * 15 s the home has to ask again, and this node stays the adopter meanwhile. If the reign ends otherwise, because another node reigns, or this one
 * loses its disk, the sessions stay, with a store that takes nothing, until the nodes have answered, too.
 */
final class Adopter {

    private static final Logger LOG = LoggerFactory.getLogger(Adopter.class);
    private static final long LOOK_MILLIS = 200;

    /** A home that is connected asks for the leadership within this time, again and again, but while it waits for an answer. */
    private static final long HOME_ASKS_NANOS = 2 * HomeReturn.LONGEST_NANOS + TimeUnit.SECONDS.toNanos(1);

    private static final long AFTER_FAILURE_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final Duration REIGN_WITHIN = Duration.ofSeconds(5);

    /** The home waits this long for an answer. */
    private static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(15);

    /** The limits of {@link ReplicatedStore#giveUp}, for a store that is given back and for one at a stop. */
    private static final Duration GIVE_UP_WITHIN = Duration.ofSeconds(10);

    private static final Duration STOP_WITHIN = Duration.ofSeconds(1);

    /** The time of a stop, in which all adopters end; less than the broker waits for a module. */
    static final Duration STOP_ALL_WITHIN = STOP_WITHIN.multipliedBy(4);

    private final String home;
    private final ReplicatedStore member;
    private final SessionRegistry sessions;
    private final Thread thread;
    private boolean stopped; // guarded by this
    private @Nullable CompletableFuture<Void> asked; // guarded by this
    private long askedNanos; // guarded by this
    private @Nullable CompletableFuture<Void> ending; // guarded by this
    private volatile @Nullable AdoptedStore adopted;
    private volatile boolean busy; // the adoption begins or ends

    private volatile long homeUntilNanos;

    // used by the thread
    private boolean led;
    private boolean refuses;
    private long pauseUntilNanos = System.nanoTime();

    /**
     * Creates an adopter and starts its thread.
     *
     * @param home the node whose store it is
     * @param member the replica on this node
     * @param sessions the sessions of this node
     */
    Adopter(String home, ReplicatedStore member, SessionRegistry sessions) {
        this.home = home;
        this.member = member;
        this.sessions = sessions;
        thread = new Thread(this::run, "smqtt-adopter-" + home);
        thread.setDaemon(true);
    }

    void start() {
        member.giveBackBy(this::askedBack);
        thread.start();
    }

    /** Whether the sessions of the store are sessions of this node. */
    boolean hasAdopted() {
        return adopted != null && !busy;
    }

    /** The home asks for the leadership; completes when this node serves nothing in its group. Called by a thread of the group. */
    private synchronized CompletableFuture<Void> askedBack() {
        awaitHome();
        if (stopped || (adopted == null && !busy)) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<Void> present = asked;
        if (present == null) {
            present = new CompletableFuture<>();
            asked = present;
            askedNanos = System.nanoTime();
            notifyAll();
        }
        return present;
    }

    /** The home has the time to ask, or to ask again, before its store is adopted. */
    private void awaitHome() {
        homeUntilNanos = System.nanoTime() + HOME_ASKS_NANOS;
    }

    private void run() {
        try {
            while (look()) {
                step();
            }
        } catch (InterruptedException e) {
            LOG.debug("the adopter of {} ends", home);
        } finally {
            endNow();
        }
    }

    /** Waits a moment; false at the end. */
    private synchronized boolean look() throws InterruptedException {
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LOOK_MILLIS);
        long leftMillis = LOOK_MILLIS;
        while (!stopped && !isDue() && leftMillis > 0) {
            wait(leftMillis);
            leftMillis = TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime());
        }
        return !stopped;
    }

    /** Whether the thread has something to do. */
    private synchronized boolean isDue() {
        CompletableFuture<Void> begun = ending;
        return begun == null ? asked != null : begun.isDone();
    }

    private void step() throws InterruptedException {
        try {
            if (adopted == null) {
                adoptIfDue();
            } else {
                serve(Objects.requireNonNull(adopted));
            }
        } catch (RuntimeException | Error e) { // the home waits for this thread
            pauseUntilNanos = System.nanoTime() + AFTER_FAILURE_NANOS;
            LOG.warn("the store of node {} cannot be adopted now: {}", home, e.toString(), e);
            if (adopted == null) {
                member.giveUp(GIVE_UP_WITHIN);
            }
        } finally {
            answer();
        }
    }

    private void serve(AdoptedStore present) {
        if (!refuses && (member.reign().ended() != null || member.failure() != null)) {
            refuses = true;
            present.refuse();
            begin(present);
        } else if (isAsked()) {
            begin(present);
        }
        CompletableFuture<Void> begun = ending();
        if (begun != null && begun.isDone()) {
            ended(begun);
        }
    }

    /** Begins to forget the sessions, unless that has begun. */
    private void begin(AdoptedStore present) {
        if (ending() != null) {
            return;
        }
        LOG.info(refuses ? "the store of node {} is given up" : "the store of node {} is given back", home);
        busy = true; // no node serves the store from here on
        CompletableFuture<Void> begun = present.end();
        synchronized (this) {
            ending = begun;
        }
        begun.whenComplete((none, failure) -> wake());
    }

    private synchronized void wake() {
        notifyAll();
    }

    private synchronized @Nullable CompletableFuture<Void> ending() {
        return ending;
    }

    /** The sessions are forgotten: closes the store. */
    private void ended(CompletableFuture<Void> outcome) {
        if (outcome.isCompletedExceptionally()) {
            LOG.warn("the sessions of node {} were not forgotten", home);
        }
        try {
            member.giveUp(GIVE_UP_WITHIN);
        } finally {
            forgotten();
        }
    }

    private synchronized void forgotten() {
        ending = null;
        adopted = null;
        refuses = false;
        busy = false;
    }

    private synchronized boolean isAsked() {
        return asked != null;
    }

    /** Answers the home when this node serves nothing, or if that takes too long: then it asks again. */
    private synchronized void answer() {
        CompletableFuture<Void> present = asked;
        if (present == null) {
            return;
        }
        if (adopted == null) {
            asked = null;
            awaitHome();
            present.complete(null);
        } else if (System.nanoTime() - askedNanos >= ANSWER_NANOS) {
            asked = null;
            awaitHome();
            String late = "not all nodes have confirmed that the store of node " + home + " is given back";
            LOG.warn("{}; it is served by this node until they have", late);
            present.completeExceptionally(new TimeoutException(late));
        }
    }

    private void adoptIfDue() throws InterruptedException {
        boolean leads = member.isLeader() && member.failure() == null;
        boolean isHomeHere = member.group().present().contains(home);
        long now = System.nanoTime();
        if (leads && !led) {
            awaitHome();
        }
        led = leads;
        boolean isDue = now - pauseUntilNanos >= 0 && (!isHomeHere || now - homeUntilNanos >= 0);
        if (leads && isDue && !isAsked() && member.hasBeenServed()) {
            adopt();
        }
    }

    private void adopt() throws InterruptedException {
        busy = true;
        try {
            if (!member.awaitLeading(REIGN_WITHIN)) {
                member.giveUp(GIVE_UP_WITHIN);
                return;
            }
            LOG.info("node {} is away: its store is served by this node", home);
            BrokerStore store = Objects.requireNonNull(member.served());
            adopted = sessions.adopt(home, member.reignNumber(), store);
        } catch (StoreUnavailableException e) { // the reign is over already
            LOG.info("the store of node {} was not adopted: {}", home, e.getMessage());
            member.giveUp(GIVE_UP_WITHIN);
        } finally {
            busy = false;
        }
    }

    /** Forgets the sessions at once, and closes the store: this node stops. */
    private void endNow() {
        AdoptedStore present = adopted;
        busy = true;
        try {
            if (present != null) {
                present.forget().get(STOP_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (TimeoutException | ExecutionException | RejectedExecutionException e) {
            LOG.debug("the event loops have not forgotten the sessions of node {} before the stop", home, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        try {
            member.giveUp(STOP_WITHIN);
        } finally {
            forgotten();
            answer();
        }
    }

    /** Begins to end the adoption and its thread. */
    synchronized void stop() {
        stopped = true;
        notifyAll();
    }

    /**
     * Waits for the end after {@link #stop}.
     *
     * @param endNanos until when, a time of {@link System#nanoTime}
     */
    void awaitEnd(long endNanos) {
        try {
            TimeUnit.NANOSECONDS.timedJoin(thread, endNanos - System.nanoTime());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            LOG.warn("the store of node {} was not given up in time; its replica is closed nevertheless", home);
        }
    }
}
