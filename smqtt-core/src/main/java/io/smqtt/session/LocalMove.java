// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Moves a session from an adopted store to the store of this node, in the way of a session that moves between nodes: its header in the new store,
 * which makes it valid there, is written last, and then its rows in the old one are removed. A crash in between leaves the session in the old store,
 * or in both; two sessions of one client are merged when the old store is opened again.
 *
 * <p>Its steps follow each other on the event loop on which the move has begun.
 */
@OnEventLoop
final class LocalMove implements SessionDeparture.Reply {

    private static final long PAUSE_MILLIS = 5;
    private static final long AGAIN_MILLIS = 1_000;
    private static final int READ_ATTEMPTS = 100;

    private final SessionServices services;
    private final SessionClaims claims;
    private final Session session;
    private final RoutingLoop loop;
    private Consumer<Boolean> done = moved -> {};
    private @Nullable SessionDeparture departure;
    private @Nullable SessionArrival arrival;
    private int failures;
    private boolean installed;
    private boolean routed;

    /** Creates a move of a session without a connection, on its event loop. */
    LocalMove(SessionServices services, SessionClaims claims, Session session) {
        this.services = services;
        this.claims = claims;
        this.session = session;
        this.loop = session.owner();
    }

    /** Moves a session of an adopted store, again and again until it has left or ended. */
    @AnyThread
    static void untilMoved(SessionServices services, SessionClaims claims, Session session) {
        claims.whenSettled(session, () -> {
            if (!session.hasEnded()) {
                new LocalMove(services, claims, session).begin(moved -> {
                    if (!moved) {
                        Runnable again = () -> untilMoved(services, claims, session);
                        session.owner().executor().schedule(again, AGAIN_MILLIS, TimeUnit.MILLISECONDS);
                    }
                });
            }
        });
    }

    /**
     * Begins to move.
     *
     * @param whenDone receives on the event loop whether the session has left the adopted store
     */
    void begin(Consumer<Boolean> whenDone) {
        done = whenDone;
        new OutgoingTransfer(session, services.resources()).begin(this);
    }

    @AnyThread
    private void next(Runnable step) {
        loop.executor().execute(step);
    }

    @Override
    public void gone() {
        next(() -> done.accept(true));
    }

    @Override
    public void refused() {
        next(() -> done.accept(false));
    }

    @Override
    public void busy() {
        next(() -> done.accept(false));
    }

    @Override
    public void departing(SessionDeparture departing) {
        next(() -> {
            departure = departing;
            arrival = claims.merge(departing.state(), session);
            copy();
        });
    }

    private SessionDeparture departure() {
        return Objects.requireNonNull(departure);
    }

    private SessionArrival arrival() {
        return Objects.requireNonNull(arrival);
    }

    private void copy() {
        departure().next(page -> next(() -> copy(page)));
    }

    private void copy(StoredPage page) {
        if (page.failure() != null) {
            if (++failures >= READ_ATTEMPTS) {
                stay();
            } else {
                later(this::copy);
            }
        } else if (page.messages().isEmpty()) {
            arrival().install(kept -> next(() -> installed(kept)));
        } else {
            arrival().add(page.messages(), kept -> next(kept ? this::copy : this::stay));
        }
    }

    private void installed(boolean kept) {
        if (!kept) {
            stay();
            return;
        }
        installed = true;
        afterRouted(() -> next(() -> routed = true));
        late();
    }

    /** Runs a task when the sessions have all messages that were routed up to now. */
    private void afterRouted(Runnable task) {
        List<RoutingLoop> loops = services.resources().router().loops();
        AtomicInteger missing = new AtomicInteger(loops.size());
        for (RoutingLoop each : loops) {
            Runnable passed = () -> {
                if (missing.decrementAndGet() == 0) {
                    task.run();
                }
            };
            each.executor().execute(() -> each.executor().execute(passed)); // behind the deliveries of this iteration
        }
    }

    private void late() {
        boolean last = routed; // read before the messages
        departure().late(messages -> next(() -> late(messages, last)));
    }

    private void late(List<StoredMessage> messages, boolean last) {
        if (!messages.isEmpty()) {
            arrival().late(messages, kept -> next(kept ? this::taken : this::stay));
        } else if (last) {
            arrival().finish(() -> next(() -> departure().leave(() -> next(() -> done.accept(true)))));
        } else {
            later(this::late);
        }
    }

    private void taken() {
        departure().taken();
        late();
    }

    private void later(Runnable step) {
        loop.executor().schedule(step, PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** The session stays in the adopted store. What has arrived in the other one is discarded, or merged at the next attempt. */
    private void stay() {
        if (installed) {
            arrival().finish(() -> {});
        } else {
            arrival().discard();
        }
        departure().stay();
        done.accept(false);
    }
}
