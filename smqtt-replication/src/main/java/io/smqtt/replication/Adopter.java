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
 * <p>Its thread begins the reign, opens the store, and lets the broker adopt its sessions. To give it back, the broker forgets them, what was submitted is
 * committed, and the store is closed; only then the leadership goes to the home. If the reign ends otherwise, because another node reigns, or this one
 * loses its disk, the sessions are forgotten at once.
 */
final class Adopter implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Adopter.class);
    private static final long LOOK_MILLIS = 200;

    /** A home that is connected asks for the leadership within this time, again and again. */
    private static final long HOME_ASKS_NANOS = 2 * HomeReturn.LONGEST_NANOS + TimeUnit.SECONDS.toNanos(1);

    private static final long AFTER_FAILURE_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final Duration REIGN_WITHIN = Duration.ofSeconds(5);
    private static final long FORGET_SECONDS = 15;
    private static final long CLOSE_MILLIS = 5_000;

    private final String home;
    private final ReplicatedStore member;
    private final SessionRegistry sessions;
    private final Thread thread;
    private boolean stopped; // guarded by this
    private @Nullable CompletableFuture<Void> asked; // guarded by this
    private volatile @Nullable AdoptedStore adopted;
    private volatile boolean busy; // the adoption begins or ends

    private volatile long homeUntilNanos;

    // used by the thread
    private boolean led;
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
        homeUntilNanos = System.nanoTime() + HOME_ASKS_NANOS;
        if (stopped || (adopted == null && !busy)) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<Void> present = asked;
        if (present == null) {
            present = new CompletableFuture<>();
            asked = present;
            notifyAll();
        }
        return present;
    }

    private void run() {
        try {
            while (look()) {
                step();
            }
        } catch (InterruptedException e) {
            LOG.debug("the adopter of {} ends", home);
        } finally {
            end(false);
        }
    }

    /** Waits a moment; false at the end. */
    private synchronized boolean look() throws InterruptedException {
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LOOK_MILLIS);
        long leftMillis = LOOK_MILLIS;
        while (!stopped && asked == null && leftMillis > 0) {
            wait(leftMillis);
            leftMillis = TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime());
        }
        return !stopped;
    }

    private void step() throws InterruptedException {
        try {
            if (adopted == null) {
                adoptIfDue();
            } else if (isAsked()) {
                LOG.info("the store of node {} is given back", home);
                end(true);
            } else if (member.notServed() != null || member.failure() != null) {
                end(false);
            }
        } catch (RuntimeException | Error e) { // the home waits for this thread
            pauseUntilNanos = System.nanoTime() + AFTER_FAILURE_NANOS;
            LOG.warn("the store of node {} cannot be adopted now: {}", home, e.toString(), e);
            end(false);
        } finally {
            answerIfDone();
        }
    }

    private synchronized boolean isAsked() {
        return asked != null;
    }

    private synchronized void answerIfDone() {
        CompletableFuture<Void> present = asked;
        if (present != null && adopted == null) {
            asked = null;
            homeUntilNanos = System.nanoTime() + HOME_ASKS_NANOS;
            present.complete(null);
        }
    }

    private void adoptIfDue() throws InterruptedException {
        boolean leads = member.isLeader() && member.failure() == null;
        boolean isHomeHere = member.group().present().contains(home);
        long now = System.nanoTime();
        if (leads && !led) {
            homeUntilNanos = now + HOME_ASKS_NANOS;
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
                member.giveUp();
                return;
            }
            LOG.info("node {} is away: its store is served by this node", home);
            BrokerStore store = Objects.requireNonNull(member.served());
            adopted = sessions.adopt(home, member.reignNumber(), store);
        } catch (StoreUnavailableException e) { // the reign is over already
            LOG.info("the store of node {} was not adopted: {}", home, e.getMessage());
            member.giveUp();
        } finally {
            busy = false;
        }
    }

    /** Forgets the sessions, and closes the store. */
    private void end(boolean agreed) {
        AdoptedStore present = adopted;
        busy = true; // no node serves the store from here on
        try {
            if (present != null) {
                present.end(agreed).get(FORGET_SECONDS, TimeUnit.SECONDS);
            }
        } catch (TimeoutException e) {
            LOG.warn(
                    "not all nodes have confirmed within {} s that the store of node {} is given back",
                    FORGET_SECONDS,
                    home);
            forgetNow(present);
        } catch (ExecutionException e) {
            LOG.warn("the sessions of node {} were not forgotten: {}", home, String.valueOf(e.getCause()));
        } catch (RejectedExecutionException e) {
            LOG.debug("the event loops have ended before the sessions of node {} were forgotten", home, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            member.giveUp();
            adopted = null;
            busy = false;
        }
    }

    private static void forgetNow(@Nullable AdoptedStore present) {
        if (present != null) {
            present.end(false);
        }
    }

    /** Ends the adoption and its thread. Blocks. */
    @Override
    public void close() {
        synchronized (this) {
            stopped = true;
            notifyAll();
        }
        try {
            thread.join(CLOSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
