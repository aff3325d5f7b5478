// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Decides the claims of the client identifiers that hash to this node: one after the other for each identifier, each when all other nodes
 * have confirmed that they have no session of the client. While processes are connected that have not introduced themselves no claim begins: any of them
 * may have the session. Keeps no state about a client without a claim.
 */
@OnClusterLoop
final class Coordinator {

    private static final int REMEMBERED = 10_000;

    /** The number of missing retries after which a claim is removed, because the notice of its end was lost. */
    private static final int SILENT_RETRIES = 10;

    private final ClientWire wire;
    private final long retryNanos;
    private final Map<String, ArrayDeque<Turn>> queues = new HashMap<>();

    /** The last claims that have ended; later frames about them are ignored. */
    private final Set<ClaimKey> ended = Collections.newSetFromMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<ClaimKey, Boolean> eldest) {
            return size() > REMEMBERED;
        }
    });

    Coordinator(ClientWire wire, Duration retry) {
        this.wire = wire;
        this.retryNanos = retry.toNanos();
    }

    private static final class Turn {

        private final ClaimKey key;
        private final Frame.Claim claim;
        private final Set<String> asked = new HashSet<>();

        /** Those that have released the identifier, of a claim that asks for them. */
        private final Set<String> answered = new TreeSet<>();

        private String unserved = "";
        private long clock;
        private long saidAtNanos;
        private long heardAtNanos;
        private boolean begun;
        private boolean decided;
        private boolean granted;

        Turn(ClaimKey key, Frame.Claim claim, long nowNanos) {
            this.key = key;
            this.claim = claim;
            this.heardAtNanos = nowNanos;
        }
    }

    /**
     * The node that decides about a client identifier: the one with the highest hash, so that few identifiers move when the view changes.
     */
    static String of(String clientId, String self, Collection<String> others) {
        String best = self;
        long highest = RouteHash.of(self + '/' + clientId, 1);
        for (String other : others) {
            long hash = RouteHash.of(other + '/' + clientId, 1);
            if (hash > highest || (hash == highest && other.compareTo(best) > 0)) {
                best = other;
                highest = hash;
            }
        }
        return best;
    }

    void claim(NodeIdentity from, Frame.Claim claim) {
        ClaimKey key = new ClaimKey(from.nodeId(), from.epoch(), claim.number(), claim.clientId());
        if (ended.contains(key)) {
            return;
        }
        ArrayDeque<Turn> queue = queues.computeIfAbsent(claim.clientId(), id -> new ArrayDeque<>(2));
        for (Turn turn : queue) {
            if (turn.key.equals(key)) {
                turn.heardAtNanos = wire.nanoTime();
                return; // said again
            }
        }
        queue.add(new Turn(key, claim, wire.nanoTime()));
        next(claim.clientId());
    }

    /** Starts the oldest claim of an identifier, if it has not started yet and this node knows all that it has to ask. */
    private void next(String clientId) {
        ArrayDeque<Turn> queue = queues.get(clientId);
        if (queue == null) {
            return;
        }
        Turn turn = queue.peek();
        if (turn == null) {
            queues.remove(clientId);
        } else if (!turn.begun && wire.knowsOthers()) {
            turn.begun = true;
            wire.heardClock(turn.claim.clock());
            turn.clock = wire.nextClock();
            askAll(turn);
            if (turn.asked.isEmpty()) {
                decide(turn, true);
            } else {
                say(turn);
            }
        }
    }

    /** All nodes but the claimant have to answer. */
    private void askAll(Turn turn) {
        turn.asked.addAll(wire.others());
        turn.asked.add(wire.self().nodeId());
        turn.asked.remove(turn.key.claimant());
    }

    private void say(Turn turn) {
        turn.saidAtNanos = wire.nanoTime();
        if (turn.decided) {
            wire.send(
                    turn.key.claimant(),
                    new Frame.Granted(
                            turn.key.number(),
                            turn.key.clientId(),
                            turn.granted,
                            turn.clock,
                            List.copyOf(turn.answered),
                            turn.unserved));
        } else {
            List.copyOf(turn.asked).forEach(other -> release(turn, other));
        }
    }

    private void release(Turn turn, String other) {
        Frame.Claim claim = turn.claim;
        wire.send(
                other,
                new Frame.Release(
                        turn.key, claim.purpose(), claim.userName(), turn.clock, claim.clock(), claim.guarded()));
    }

    private void decide(Turn turn, boolean granted) {
        turn.decided = true;
        turn.granted = granted;
        say(turn);
    }

    void released(String from, Frame.Released answer) {
        ArrayDeque<Turn> queue = queues.get(answer.claim().clientId());
        Turn turn = queue == null ? null : queue.peek();
        if (turn == null || !turn.key.equals(answer.claim()) || turn.decided) {
            return;
        }
        switch (answer.outcome()) {
            case FREE -> {
                turn.asked.remove(from);
                if (turn.claim.guarded()) {
                    turn.answered.add(from);
                    turn.unserved = answer.unserved().isEmpty() ? turn.unserved : answer.unserved();
                }
                if (turn.asked.isEmpty()) {
                    decide(turn, true);
                }
            }
            case REFUSED -> decide(turn, false);
            case NEWER -> {
                if (answer.clock() >= turn.clock) {
                    wire.heardClock(answer.clock());
                    turn.clock = wire.nextClock();
                    if (turn.clock > answer.clock()) { // otherwise its clock is far off: requested again later
                        release(turn, from);
                    }
                }
            }
            case BUSY -> { // requested again later
            }
        }
    }

    void settled(NodeIdentity from, Frame.Settled settled) {
        ClaimKey key = new ClaimKey(from.nodeId(), from.epoch(), settled.number(), settled.clientId());
        ended.add(key);
        end(key);
    }

    private void end(ClaimKey key) {
        ArrayDeque<Turn> queue = queues.get(key.clientId());
        if (queue != null) {
            queue.removeIf(turn -> turn.key.equals(key));
            next(key.clientId());
        }
    }

    /** A node is reachable: what is not decided waits for its answer, too, because it may have sessions that others have given to it. */
    void up(String nodeId) {
        for (ArrayDeque<Turn> queue : new ArrayList<>(queues.values())) {
            Turn turn = queue.peek();
            if (turn == null) {
                continue;
            }
            if (!turn.begun) {
                next(turn.key.clientId());
            } else if (!turn.decided && !turn.key.claimant().equals(nodeId) && turn.asked.add(nodeId)) {
                release(turn, nodeId);
            }
        }
    }

    /** A run of a node has ended or is unreachable: its claims are removed, and its answer is not needed. */
    void down(String nodeId) {
        List<ClaimKey> orphans = new ArrayList<>();
        List<Turn> waiting = new ArrayList<>();
        queues.values()
                .forEach(queue -> queue.forEach(turn -> {
                    if (turn.key.claimant().equals(nodeId)) {
                        orphans.add(turn.key);
                    } else if (turn.begun && !turn.decided) {
                        turn.answered.remove(nodeId);
                        if (turn.asked.contains(nodeId)) {
                            waiting.add(turn);
                        }
                    }
                }));
        orphans.forEach(this::end);
        for (Turn turn : waiting) {
            if (turn.claim.purpose() == Frame.Purpose.RESUME || turn.claim.guarded()) {
                askAll(turn); // one that had no session may serve those of the failed node from now on
                turn.answered.clear();
                turn.unserved = "";
            }
            turn.asked.remove(nodeId);
            if (turn.asked.isEmpty()) {
                decide(turn, true);
            } else {
                say(turn);
            }
        }
    }

    void tick(long nowNanos) {
        List<ClaimKey> silent = new ArrayList<>();
        for (ArrayDeque<Turn> queue : new ArrayList<>(queues.values())) {
            for (Turn turn : queue) {
                if (!turn.decided && nowNanos - turn.heardAtNanos >= SILENT_RETRIES * retryNanos) {
                    silent.add(turn.key);
                }
            }
            Turn turn = queue.peek();
            if (turn != null && !turn.begun) {
                next(turn.key.clientId());
            } else if (turn != null && nowNanos - turn.saidAtNanos >= retryNanos) {
                say(turn);
            }
        }
        silent.forEach(this::end);
    }
}
