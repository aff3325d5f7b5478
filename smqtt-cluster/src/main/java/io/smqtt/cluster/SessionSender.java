// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.session.SessionDeparture;
import io.smqtt.session.SessionState;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends a session to another node: the state, its messages, and then, when the other node has installed it and all nodes know its routes,
 * the messages that arrived here meanwhile. One part at a time; each is repeated until it is acknowledged.
 */
@OnClusterLoop
final class SessionSender implements SessionDeparture.Reply {

    private static final long PAUSE_MILLIS = 5;
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final long PAUSE_AFTER_FAILURE_MILLIS = 100;
    private static final Duration CROSSED = Duration.ofSeconds(1);

    private final ClaimKey claim;
    private final long attempt;
    private final ClientWire wire;
    private final Consumer<Runnable> fence;
    private final Consumer<Frame.Outcome> end;
    private final long retryNanos;
    private final Set<String> askers = new HashSet<>();
    private @Nullable SessionDeparture session;
    private Frame.@Nullable SessionPart part;
    private long saidAtNanos;
    private long progressNanos;
    private boolean fenced;
    private boolean leaving;
    private boolean over;

    /**
     * Creates a sender that has not started.
     *
     * @param attempt the number of this move on this node
     * @param fence runs a task when everything that was routed up to now has arrived here
     * @param end called once with the result
     */
    SessionSender(
            ClaimKey claim,
            long attempt,
            ClientWire wire,
            Duration retry,
            Consumer<Runnable> fence,
            Consumer<Frame.Outcome> end) {
        this.claim = claim;
        this.attempt = attempt;
        this.wire = wire;
        this.retryNanos = retry.toNanos();
        this.fence = fence;
        this.progressNanos = wire.nanoTime();
        this.end = end;
    }

    /** The timeout without progress, after which the session stays here. */
    static Duration patience() {
        return PATIENCE;
    }

    ClaimKey claim() {
        return claim;
    }

    /** Called at the end. */
    Set<String> askers() {
        return askers;
    }

    // --- calls of the session, on any thread

    @Override
    public void gone() {
        wire.execute(() -> finish(Frame.Outcome.FREE));
    }

    @Override
    public void refused() {
        wire.execute(() -> finish(Frame.Outcome.REFUSED));
    }

    @Override
    public void busy() {
        wire.execute(() -> finish(Frame.Outcome.BUSY));
    }

    @Override
    public void departing(SessionDeparture departure) {
        wire.execute(() -> {
            if (over) {
                departure.stay();
                return;
            }
            session = departure;
            say(Frame.PartKind.STATE, departure.state(), List.of());
        });
    }

    // --- parts

    private void say(Frame.PartKind kind, @Nullable SessionState state, List<StoredMessage> messages) {
        int index = part == null ? 0 : part.index() + 1;
        Frame.SessionPart next =
                new Frame.SessionPart(claim.number(), attempt, claim.epoch(), index, kind, state, messages);
        part = next;
        saidAtNanos = wire.nanoTime();
        wire.send(claim.claimant(), next);
    }

    void acknowledged(Frame.SessionAck ack) {
        SessionDeparture departure = session;
        Frame.SessionPart last = part;
        if (departure == null || last == null || leaving || over) {
            return;
        }
        if (ack.attempt() != attempt || ack.index() != last.index()) {
            return;
        }
        if (saidAtNanos == Long.MIN_VALUE) {
            return; // the next part is being made
        }
        if (!ack.taken()) {
            giveUp();
            return;
        }
        saidAtNanos = Long.MIN_VALUE;
        if (last.kind() != Frame.PartKind.LATE || fenced) { // while messages arrive another part follows
            progressNanos = wire.nanoTime();
        }
        switch (last.kind()) {
            case STATE, MESSAGES -> next(departure);
            case INSTALL -> {
                fence.accept(() -> fenced = true);
                late(departure);
            }
            case LATE -> {
                departure.taken();
                late(departure);
            }
            case END -> {
                leaving = true;
                departure.leave(() -> wire.execute(() -> finish(Frame.Outcome.FREE)));
            }
        }
    }

    private void next(SessionDeparture departure) {
        departure.next(page -> wire.execute(() -> next(departure, page)));
    }

    private void next(SessionDeparture departure, StoredPage page) {
        if (over) {
            return;
        }
        if (page.failure() != null) {
            wire.later(PAUSE_AFTER_FAILURE_MILLIS, () -> next(departure));
        } else if (page.messages().isEmpty()) {
            say(Frame.PartKind.INSTALL, null, List.of());
        } else {
            say(Frame.PartKind.MESSAGES, null, page.messages());
        }
    }

    private void late(SessionDeparture departure) {
        if (over) {
            return;
        }
        boolean last = fenced; // read before the messages
        departure.late(messages -> wire.execute(() -> {
            if (over) {
                return;
            }
            if (!messages.isEmpty()) {
                say(Frame.PartKind.LATE, null, messages);
            } else if (last) {
                say(Frame.PartKind.END, null, List.of());
            } else {
                wire.later(PAUSE_MILLIS, () -> late(departure));
            }
        }));
    }

    /**
     * Repeats the last part, or gives up after a time without progress.
     *
     * @param heldUp whether a session that comes to this node waits for messages to be accepted here
     */
    void tick(long nowNanos, BooleanSupplier heldUp) {
        Frame.SessionPart last = part;
        long waitsNanos = nowNanos - progressNanos;
        if (waitsNanos >= PATIENCE.toNanos()
                || (waitsNanos >= CROSSED.toNanos() && yields(last) && heldUp.getAsBoolean())) {
            giveUp();
            return;
        }
        if (last != null && saidAtNanos != Long.MIN_VALUE && !leaving && nowNanos - saidAtNanos >= retryNanos) {
            saidAtNanos = nowNanos;
            wire.send(claim.claimant(), last);
        }
    }

    /**
     * Whether the session stays if sessions cross. Messages that it holds back are not accepted, and an arriving session waits for these; at the other
     * node it is the same. In each ring of nodes that wait like this one has a name before that of its claimant, and another one has not.
     */
    private boolean yields(Frame.@Nullable SessionPart last) {
        return last != null
                && last.kind() == Frame.PartKind.INSTALL
                && wire.self().nodeId().compareTo(claim.claimant()) < 0;
    }

    /** The claimant is unreachable or refuses it: the session stays. */
    void giveUp() {
        if (!leaving && !over) {
            SessionDeparture departure = session;
            if (departure != null) {
                departure.stay();
            }
            finish(Frame.Outcome.BUSY);
        }
    }

    private void finish(Frame.Outcome outcome) {
        if (!over) {
            over = true;
            end.accept(outcome);
        }
    }
}
