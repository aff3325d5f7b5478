// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.session.SessionArrival;
import io.smqtt.session.SessionState;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Receives a session from another node: accepts each part once, in order, and acknowledges it when it is stored. If the other node fails,
 * the installed parts stay on this node. What other nodes still send here because the session was here before has arrived before it is
 * installed, since the session may have had these messages from the other node.
 */
@OnClusterLoop
final class SessionReceiver {

    private final ClientWire wire;
    private final LocalClients local;
    private final NodeIdentity from;
    private final long number;
    private final long attempt;
    private final BiConsumer<SessionReceiver, Runnable> announce;
    private final Consumer<Runnable> fence;
    private boolean fenced;
    private @Nullable Runnable afterFence;
    private @Nullable SessionArrival arrival;
    private int next;
    private boolean busy;
    private boolean installed;
    private boolean over;
    private boolean lost;
    private boolean ended;
    private boolean alone;
    private boolean refusing;
    private final boolean replaces;
    private final String clientId;
    private @Nullable Runnable afterwards;
    private long usedAtNanos;

    /**
     * Creates a receiver for the first part.
     *
     * @param first the first part
     * @param replaces whether an existing session is an incomplete copy of the arriving one, and can be replaced
     * @param announce runs a task when the routes of this node are known everywhere
     * @param fence runs a task when everything that was routed up to now has arrived here
     */
    SessionReceiver(
            ClientWire wire,
            LocalClients local,
            NodeIdentity from,
            Frame.SessionPart first,
            boolean replaces,
            BiConsumer<SessionReceiver, Runnable> announce,
            Consumer<Runnable> fence) {
        this.wire = wire;
        this.local = local;
        this.from = from;
        this.number = first.number();
        this.attempt = first.attempt();
        this.replaces = replaces;
        this.clientId = Objects.requireNonNull(first.state()).clientId();
        this.announce = announce;
        this.fence = fence;
        this.usedAtNanos = wire.nanoTime();
    }

    NodeIdentity from() {
        return from;
    }

    long number() {
        return number;
    }

    String clientId() {
        return clientId;
    }

    /** Whether this node has exactly the installed parts, and the rest did not arrive. */
    boolean isUnfinished() {
        return alone && installed && !ended;
    }

    /** The client has opened the session here: it now has more than the installed parts. */
    void opened() {
        alone = false;
    }

    /** The number of the sender's move. */
    long attempt() {
        return attempt;
    }

    boolean isOver() {
        return over;
    }

    /** Whether no more parts are expected. */
    boolean isLost() {
        return lost;
    }

    long usedAtNanos() {
        return usedAtNanos;
    }

    void receive(Frame.SessionPart part) {
        usedAtNanos = wire.nanoTime();
        if (part.index() < next) {
            acknowledge(part.index(), !refusing);
            return;
        }
        if (part.index() > next || busy) {
            return;
        }
        if (over) {
            receiveAfterwards(part);
            return;
        }
        busy = true;
        SessionState state = part.state();
        if (state != null) {
            alone = replaces || local.clockOf(state.clientId()) == LocalClients.NONE;
            arrival = replaces ? local.arrive(state) : local.merge(state);
            fence.accept(this::fenced);
            done(part, true);
            return;
        }
        SessionArrival taker = Objects.requireNonNull(arrival);
        switch (part.kind()) {
            case STATE -> done(part, false);
            case MESSAGES -> taker.add(part.messages(), kept -> wire.execute(() -> done(part, kept)));
            case INSTALL -> {
                if (fenced) {
                    install(part, taker);
                } else {
                    afterFence = () -> install(part, taker);
                }
            }
            case LATE -> taker.late(part.messages(), kept -> wire.execute(() -> done(part, kept)));
            case END ->
                taker.finish(() -> wire.execute(() -> {
                    ended = true;
                    end();
                    done(part, true);
                }));
        }
    }

    /** Whether it is to install the session, and waits for messages that were sent to this node before. */
    boolean isHeldUp() {
        return afterFence != null;
    }

    private void fenced() {
        fenced = true;
        Runnable next = afterFence;
        afterFence = null;
        if (next != null) {
            next.run();
        }
    }

    private void install(Frame.SessionPart part, SessionArrival taker) {
        taker.install(kept -> wire.execute(() -> {
            installed = kept;
            if (kept) {
                announce.accept(this, () -> done(part, true));
            } else {
                done(part, false);
            }
        }));
    }

    /** The other node has returned after a failure: only a session with installed parts accepts the rest. */
    private void receiveAfterwards(Frame.SessionPart part) {
        SessionArrival taker = arrival;
        if (taker == null || !installed) {
            done(part, false);
        } else if (part.kind() == Frame.PartKind.LATE) {
            busy = true;
            taker.late(part.messages(), kept -> wire.execute(() -> done(part, kept)));
        } else {
            done(part, true);
        }
    }

    private void done(Frame.SessionPart part, boolean kept) {
        busy = false;
        next = part.index() + 1;
        refusing = !kept;
        acknowledge(part.index(), kept);
        if (!over && (!kept || lost)) {
            close();
        }
    }

    private void acknowledge(int index, boolean taken) {
        wire.send(from.nodeId(), new Frame.SessionAck(number, attempt, from.epoch(), index, taken));
    }

    /** No more parts will arrive: parts that were not installed are dropped. Then the task runs. */
    void lose(Runnable task) {
        if (over) {
            task.run();
            return;
        }
        Runnable before = afterwards;
        afterwards = before == null
                ? task
                : () -> {
                    before.run();
                    task.run();
                };
        lost = true;
        if (afterFence != null) { // not installed yet
            afterFence = null;
            busy = false;
        }
        if (!busy) {
            close();
        }
    }

    private void close() {
        SessionArrival taker = arrival;
        if (taker != null && installed) {
            busy = true;
            taker.finish(() -> wire.execute(() -> {
                busy = false;
                end();
            }));
            return;
        }
        if (taker != null) {
            taker.discard();
        }
        end();
    }

    private void end() {
        over = true;
        Runnable task = afterwards;
        afterwards = null;
        if (task != null) {
            task.run();
        }
    }
}
