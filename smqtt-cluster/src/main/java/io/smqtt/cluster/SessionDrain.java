// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Asks the other nodes to take over the sessions of a stopping node, a limited number at a time. A node takes a session over by claiming its
 * client identifier, so claims of the client itself wait for that, or come first. A session that one node refuses is offered to the next one.
 */
@OnClusterLoop
final class SessionDrain {

    private static final int AT_ONCE = 64;
    private static final long POLL_MILLIS = 20;

    /** A node that has not answered by then is not asked again. */
    private static final Duration PATIENCE = Duration.ofSeconds(4);

    /**
     * The result of a drain.
     *
     * @param moved the number of sessions that are not here any more
     * @param kept the number of sessions that are still here
     * @param alone whether no other node is reachable
     */
    record Result(int moved, int kept, boolean alone) {}

    private static final class Offer {
        private final Set<String> refusedBy = new HashSet<>();
        private @Nullable String asked;
        private Frame.@Nullable HeldWill will;
        private long askedAtNanos;
    }

    private final ClientWire wire;
    private final LocalClients local;
    private final Iterator<String> clientIds;
    private final Deque<String> arrived = new ArrayDeque<>();
    private final Predicate<String> isLeaving;
    private final IntSupplier underway;
    private final Consumer<Result> done;
    private final Map<String, Offer> open = new LinkedHashMap<>();
    private final Set<String> silent = new HashSet<>();
    private int moved;
    private int kept;
    private boolean over;

    /**
     * Creates a drain that has not started.
     *
     * @param clientIds the clients whose sessions are to be moved, the most important first, none twice
     * @param isLeaving whether the session of a client is being moved to another node; a move with many messages takes long
     * @param underway the number of sessions that are on their way from or to this node; the drain waits for all of them
     * @param done called once, when nothing is left to do or {@link #stop} was called
     */
    SessionDrain(
            ClientWire wire,
            LocalClients local,
            Iterator<String> clientIds,
            Predicate<String> isLeaving,
            IntSupplier underway,
            Consumer<Result> done) {
        this.wire = wire;
        this.local = local;
        this.clientIds = clientIds;
        this.isLeaving = isLeaving;
        this.underway = underway;
        this.done = done;
    }

    /** Offers sessions, and again after a while, until none is left. */
    void run() {
        if (over) {
            return;
        }
        for (String clientId : List.copyOf(open.keySet())) {
            check(clientId);
        }
        while (open.size() < AT_ONCE && hasNext()) {
            String clientId = next();
            if (isHere(clientId) && open.putIfAbsent(clientId, new Offer()) == null) {
                check(clientId);
            }
        }
        if (open.isEmpty() && !hasNext() && underway.getAsInt() == 0) {
            stop();
        } else {
            wire.later(POLL_MILLIS, this::run);
        }
    }

    /** A session has come to this node after the beginning. */
    void add(String clientId) {
        arrived.add(clientId);
    }

    private boolean hasNext() {
        return clientIds.hasNext() || !arrived.isEmpty();
    }

    private String next() {
        return clientIds.hasNext() ? clientIds.next() : arrived.remove();
    }

    private boolean isHere(String clientId) {
        return local.clockOf(clientId) != LocalClients.NONE;
    }

    private void check(String clientId) {
        Offer offer = open.get(clientId);
        if (offer == null) {
            return;
        }
        if (!isHere(clientId)) {
            open.remove(clientId);
            moved++;
            return;
        }
        if (isLeaving.test(clientId)) {
            offer.askedAtNanos = wire.nanoTime();
            return;
        }
        String asked = offer.asked;
        if (asked != null && wire.others().contains(asked)) {
            if (wire.nanoTime() - offer.askedAtNanos < PATIENCE.toNanos()) {
                return;
            }
            silent.add(asked);
        }
        ask(clientId, offer);
    }

    private void ask(String clientId, Offer offer) {
        Frame.HeldWill will = offer.will;
        if (will != null) { // the attempt may have taken it from the session
            local.inheritWill(clientId, will);
        }
        List<String> nodes = new ArrayList<>(wire.keepers());
        nodes.removeAll(offer.refusedBy);
        nodes.removeAll(silent);
        if (nodes.isEmpty()) {
            open.remove(clientId);
            kept++;
            return;
        }
        String node = Coordinator.of(clientId, nodes.get(0), nodes);
        offer.asked = node;
        offer.askedAtNanos = wire.nanoTime();
        local.absent(
                clientId,
                session -> wire.execute(() -> {
                    if (session == null) {
                        offer.asked = null; // its client is connected or it has ended: looked at again
                    } else if (!over) {
                        offer.will = session.will();
                        wire.send(node, new Frame.Inherit(clientId, session.userName(), session.will()));
                    }
                }));
    }

    /** A node has taken a session over, or refuses it. */
    void answered(String nodeId, Frame.Inherited answer) {
        Offer offer = open.get(answer.clientId());
        if (offer == null || over) {
            return;
        }
        silent.remove(nodeId);
        if (!answer.taken() && nodeId.equals(offer.asked)) {
            offer.refusedBy.add(nodeId);
            offer.asked = null;
        }
        check(answer.clientId());
    }

    /** Ends the drain: nothing more is offered. */
    Result stop() {
        if (!over) {
            over = true;
            kept += open.size();
            while (hasNext()) {
                kept += isHere(next()) ? 1 : 0;
            }
            done.accept(result());
        }
        return result();
    }

    private Result result() {
        return new Result(moved, kept, wire.keepers().isEmpty());
    }
}
