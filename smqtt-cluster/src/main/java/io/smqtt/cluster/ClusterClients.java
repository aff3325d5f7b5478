// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.session.SessionState;
import io.smqtt.spi.ClaimRefusedException;
import io.smqtt.spi.ClientIdentity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Ensures that each client identifier has one owner among the reachable nodes, and that its session moves to the owner. Claims are decided
 * one after the other. If two nodes did not know of each other and both have a session, the later claim wins.
 */
@OnClusterLoop
final class ClusterClients {

    private static final Duration LONGEST_ANNOUNCEMENT = Duration.ofSeconds(1);
    private static final int SLICES = 32;
    private static final long SLICE_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** The number of sessions that move to later claimants at a time. */
    private static final int BEQUEATHED_AT_ONCE = 64;

    /** A number that is not a claim: the session is merged into an existing one. */
    private static final long NO_CLAIM = 0;

    /** Longer than the timeout of a sender. */
    private static final long FORGET_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final ClientWire wire;
    private final LocalClients local;
    private final LocalPart routed;
    private final Runnable flushRoutes;
    private final Duration retry;
    private final NewSessions fresh;
    private final Claims claims;
    private final FilterClaims filters;
    private final Inheritances inheritances;
    private final Coordinator coordinator;
    private final RouteSync sync;
    private final Wills wills;
    private final HomeServers servers;
    private final LongSupplier routes;
    private final Map<String, SessionSender> sending = new HashMap<>();

    /** The same, by this node's number. */
    private final Map<Long, SessionSender> sendingByAttempt = new HashMap<>();

    /** Sessions that are arriving or have arrived, least recently active first. */
    private final Map<Move, SessionReceiver> receiving = new LinkedHashMap<>(16, 0.75f, true);

    /** The latest one of each client, the only one that may still be arriving. */
    private final Map<String, SessionReceiver> receivingByClient = new HashMap<>();

    /** One attempt of a node to send a session. */
    private record Move(NodeIdentity from, long attempt) {}

    /** A node that has claimed a client later. */
    private record Heir(NodeIdentity node, long clock) {}

    private List<String> newIds = new ArrayList<>();
    private List<Long> newClocks = new ArrayList<>();
    private long announcedAtNanos;
    private int slice;
    private long attempts;

    /** Clients with a session here that another node has claimed later, with that node. */
    private final Map<String, Heir> heirs = new LinkedHashMap<>();

    /** Clients with a session here whose transfer did not complete, with the sending node. */
    private final Map<String, NodeIdentity> unfinished = new HashMap<>();

    private @Nullable SessionDrain drain;

    /**
     * Creates the parts; nothing is sent yet.
     *
     * @param flushRoutes numbers all changes of this node's routes
     * @param routes the number of the last change
     * @param outboxes the queue of messages for a node; null if it is not known
     * @param retry timeout before a request is repeated
     * @param willRefused called for each will that no other node keeps
     */
    ClusterClients(
            ClientWire wire,
            LocalClients local,
            LocalPart routed,
            Runnable flushRoutes,
            LongSupplier routes,
            Function<String, @Nullable PeerOutbox> outboxes,
            Duration retry,
            Runnable willRefused) {
        this.wire = wire;
        this.local = local;
        this.routed = routed;
        this.flushRoutes = flushRoutes;
        this.routes = routes;
        this.retry = retry;
        this.fresh = new NewSessions(wire, local);
        this.claims = new Claims(wire, local, fresh, retry, (clientId, clock) -> {
            wills().connected(clientId);
            wills().ownedBy(clientId, wire.self().nodeId(), clock);
            newIds.add(clientId);
            newClocks.add(clock);
        });
        this.filters = new FilterClaims(wire, local, claims);
        this.inheritances = new Inheritances(wire, local, claims, this::settled);
        this.coordinator = new Coordinator(wire, retry);
        this.sync = new RouteSync(wire, retry);
        this.wills = new Wills(wire, local, retry, willRefused);
        this.servers = new HomeServers(
                wire,
                routed,
                outboxes,
                done -> whenKnown(HomeServers.longestAnnouncement(), done),
                this::fence,
                wills,
                retry);
        this.announcedAtNanos = wire.nanoTime();
    }

    // --- for the broker

    /** Claims an identifier, for a session that is stored or not; the callback receives null, or the failure. */
    void claim(
            ClientIdentity client,
            boolean cleanStart,
            boolean stored,
            Consumer<@Nullable ClaimRefusedException> outcome) {
        claims.claim(client, cleanStart ? Frame.Purpose.DISCARD : Frame.Purpose.RESUME, stored, outcome);
    }

    void settled(ClientIdentity client) {
        if (claims.settled(client)) { // first completion of this claim, and not timed out
            unfinished.remove(client.clientId());
            SessionReceiver receiver = receivingByClient.get(client.clientId());
            if (receiver != null) {
                receiver.opened();
            }
            if (drain != null) {
                drain.add(client.clientId());
            }
        }
    }

    /** Runs a task when the other nodes know the current routes of this node; false if not all have confirmed in time. */
    void whenKnown(Duration longest, Consumer<Boolean> done) {
        flushRoutes.run();
        sync.ask(routes.getAsLong(), false, longest, done);
    }

    /** The claims of filters. */
    FilterClaims filters() {
        return filters;
    }

    /** The nodes that serve the sessions of failed ones. */
    HomeServers servers() {
        return servers;
    }

    /** The replicated wills. */
    Wills wills() {
        return wills;
    }

    // --- frames from other nodes, and from this one to itself

    void accept(NodeIdentity from, Frame.Client frame) {
        if (frame instanceof Frame.Claim claim) {
            coordinator.claim(from, claim);
        } else if (frame instanceof Frame.Released released) {
            coordinator.released(from.nodeId(), released);
        } else if (frame instanceof Frame.Settled settled) {
            coordinator.settled(from, settled);
        } else if (frame instanceof Frame.Release release && release.purpose() == Frame.Purpose.EXCLUSIVE) {
            filters.release(from, release);
        } else if (frame instanceof Frame.Release release) {
            release(from, release);
        } else if (frame instanceof Frame.Granted granted) {
            granted(from, granted);
        } else if (frame instanceof Frame.SessionPart part) {
            part(from, part);
        } else if (frame instanceof Frame.SessionAck ack) {
            acknowledged(from, ack);
        } else if (frame instanceof Frame.Owned owned) {
            owned(from, owned);
        } else if (frame instanceof Frame.WillCopy
                || frame instanceof Frame.WillAck
                || frame instanceof Frame.WillDone) {
            wills.accept(from, frame);
        } else if (frame instanceof Frame.Inherit inherit) {
            inherit(from.nodeId(), inherit);
        } else if (frame instanceof Frame.Inherited answer) {
            if (drain != null) {
                drain.answered(from.nodeId(), answer);
            }
        } else if (frame instanceof Frame.Serves serves) {
            servers.accept(from, serves);
        } else if (frame instanceof Frame.Served served) {
            servers.accept(from, served);
        } else if (frame instanceof Frame.Synced synced
                && synced.ofEpoch() == wire.self().epoch()) {
            sync.answered(from.nodeId(), synced);
        }
    }

    private void release(NodeIdentity from, Frame.Release release) {
        ClaimKey claim = release.claim();
        String clientId = claim.clientId();
        wire.heardClock(release.clock());
        if (release.purpose() != Frame.Purpose.INHERIT) {
            wills.connected(clientId);
        }
        SessionSender present = sending.get(clientId);
        if (present != null) {
            if (present.claim().equals(claim)) {
                present.askers().add(from.nodeId());
            }
            return;
        }
        long mine = local.clockOf(clientId);
        if (!wire.reaches(claim.claimant(), claim.epoch())) {
            answer(from.nodeId(), claim, Frame.Outcome.BUSY, 0);
            return;
        }
        if (claims.isNewer(clientId, release.clock()) || mine > release.clock()) {
            answer(from.nodeId(), claim, Frame.Outcome.NEWER, Math.max(mine, release.clock()));
        } else if (claims.isOpening(clientId) || isComing(clientId)) {
            return; // requested again when the session is open
        } else if (fresh.mayWait(release, mine)
                ? fresh.isAwaited()
                : release.purpose() == Frame.Purpose.RESUME && servers.kept().areExpected()) {
            answer(from.nodeId(), claim, Frame.Outcome.BUSY, 0); // the session may be found in a moment
        } else if (mine == LocalClients.NONE || fresh.isOutOfReach(release)) {
            fresh.free(from.nodeId(), release);
        } else if (release.purpose() == Frame.Purpose.INHERIT && drain == null) {
            answer(from.nodeId(), claim, Frame.Outcome.REFUSED, 0);
        } else {
            boolean inherits = release.purpose() == Frame.Purpose.INHERIT;
            SessionSender sender = sender(claim, inherits ? Frame.Outcome.REFUSED : Frame.Outcome.BUSY);
            sender.askers().add(from.nodeId());
            local.depart(clientId, release.purpose() == Frame.Purpose.DISCARD, release.userName(), sender);
        }
    }

    /** Creates a sender; the last argument is the answer if the session stays: whether it is requested again, or offered to another node. */
    private SessionSender sender(ClaimKey claim, Frame.Outcome ifStays) {
        SessionSender[] created = new SessionSender[1];
        long attempt = ++attempts;
        SessionSender sender = new SessionSender(claim, attempt, wire, retry, this::fence, outcome -> {
            SessionSender own = created[0];
            sendingByAttempt.remove(attempt);
            if (sending.remove(claim.clientId(), own)) {
                unfinished.remove(claim.clientId());
                Frame.Outcome said = outcome == Frame.Outcome.BUSY ? ifStays : outcome;
                own.askers().forEach(asker -> answer(asker, claim, said, 0));
                if (claim.number() == NO_CLAIM && outcome != Frame.Outcome.FREE) {
                    wire.later(retry.toMillis(), () -> compare(claim));
                }
            }
        });
        created[0] = sender;
        sending.put(claim.clientId(), sender);
        sendingByAttempt.put(attempt, sender);
        return sender;
    }

    /** A session could not be moved to its later claimant: retried if it is still claimed. */
    private void compare(ClaimKey claim) {
        long clock = local.clockOf(claim.clientId());
        if (clock != LocalClients.NONE && wire.reaches(claim.claimant(), claim.epoch())) {
            wire.send(claim.claimant(), new Frame.Owned(List.of(claim.clientId()), List.of(clock)));
        }
    }

    /** Whether a session of the client is arriving. */
    private boolean isComing(String clientId) {
        SessionReceiver receiver = receivingByClient.get(clientId);
        return receiver != null && !receiver.isOver();
    }

    /** Moves sessions that were claimed later elsewhere, a few at a time. */
    private void bequeath() {
        Iterator<Map.Entry<String, Heir>> all = heirs.entrySet().iterator();
        while (all.hasNext() && sending.size() < BEQUEATHED_AT_ONCE) {
            Map.Entry<String, Heir> next = all.next();
            String clientId = next.getKey();
            NodeIdentity heir = next.getValue().node();
            if (!local.mayMove(clientId)) {
                continue; // with a later tick
            }
            long clock = local.clockOf(clientId);
            all.remove();
            boolean mine = clock != LocalClients.NONE
                    && clock <= next.getValue().clock()
                    && !sending.containsKey(clientId)
                    && !claims.concerns(clientId)
                    && !isComing(clientId);
            if (mine && wire.reaches(heir.nodeId(), heir.epoch())) {
                local.bequeath(
                        clientId,
                        sender(new ClaimKey(heir.nodeId(), heir.epoch(), NO_CLAIM, clientId), Frame.Outcome.BUSY));
            }
        }
    }

    /**
     * Moves sessions to other nodes, because this node stops. From now on this node takes none over.
     *
     * @param clientIds clients of this node, those with the most important sessions first
     * @param done called once with the result
     */
    void drain(Iterator<String> clientIds, Consumer<SessionDrain.Result> done) {
        SessionDrain started = new SessionDrain(
                wire, local, clientIds, sending::containsKey, () -> sending.size() + inheritances.underway(), done);
        drain = started;
        started.run();
    }

    /** Ends {@link #drain} before it is done. */
    SessionDrain.Result stopDrain() {
        return Objects.requireNonNull(drain, "no drain has started").stop();
    }

    private void inherit(String from, Frame.Inherit offer) {
        if (drain != null || !wire.isKeeper() || claims.concerns(offer.clientId())) {
            wire.send(from, new Frame.Inherited(offer.clientId(), false));
        } else {
            inheritances.take(from, offer);
        }
    }

    private void answer(String to, ClaimKey claim, Frame.Outcome outcome, long clock) {
        wire.send(to, new Frame.Released(claim, outcome, clock));
    }

    /**
     * Waits until everything that was routed on any node up to now has arrived here. Has no timeout for a reachable node that does not
     * confirm.
     */
    private void fence(Runnable done) {
        int[] open = {2};
        Runnable part = () -> {
            if (--open[0] == 0) {
                done.run();
            }
        };
        routed.afterRouted(() -> wire.execute(part));
        sync.ask(0, true, SessionSender.patience(), all -> {
            if (all) {
                part.run();
            }
        });
    }

    private void granted(NodeIdentity from, Frame.Granted decision) {
        wire.heardClock(decision.clock());
        SessionReceiver receiver = receivingByClient.get(decision.clientId());
        if (receiver != null && !receiver.isOver()) { // possibly for another claim: the client opens its session now
            lose(receiver, () -> granted(from, decision));
            return;
        }
        if (claims.mayWait(decision.number()) && fresh.isAwaited()) {
            claims.outdated(decision.number()); // it is said again
        } else if (!claims.isAskedAgain(decision.number())) {
            claims.granted(from.nodeId(), decision);
        }
    }

    private void part(NodeIdentity from, Frame.SessionPart part) {
        if (part.toEpoch() != wire.self().epoch()) {
            return;
        }
        Move move = new Move(from, part.attempt());
        SessionReceiver known = receiving.get(move);
        if (known != null) {
            String clientId = known.clientId();
            if (known.isOver() && sending.containsKey(clientId)) {
                return; // a leaving session accepts nothing; the sender repeats it
            }
            if (part.kind() == Frame.PartKind.END) {
                unfinished.remove(clientId); // completed after all
            }
            known.receive(part);
            return;
        }
        SessionState state = part.state();
        SessionReceiver before = state == null ? null : receivingByClient.get(state.clientId());
        if (before != null && before.from().equals(from) && !before.isOver()) {
            if (before.attempt() < part.attempt()) {
                lose(before); // the earlier transfer was abandoned; this part is sent again
            }
            return;
        }
        if (state == null || !mayCome(part.number(), state.clientId())) {
            wire.send(
                    from.nodeId(),
                    new Frame.SessionAck(part.number(), part.attempt(), from.epoch(), part.index(), false));
            return;
        }
        if (isComing(state.clientId()) || sending.containsKey(state.clientId()) || claims.isOpening(state.clientId())) {
            return; // said again
        }
        boolean replaces = from.equals(unfinished.remove(state.clientId()));
        SessionReceiver receiver = new SessionReceiver(wire, local, from, part, replaces, this::announce, this::fence);
        receiving.put(move, receiver);
        receivingByClient.put(state.clientId(), receiver);
        receiver.receive(part);
    }

    private boolean mayCome(long number, String clientId) {
        if (number == NO_CLAIM) {
            return local.clockOf(clientId) != LocalClients.NONE
                    && !sending.containsKey(clientId)
                    && !claims.concerns(clientId);
        }
        return claims.isOpen(number);
    }

    private void lose(SessionReceiver receiver) {
        lose(receiver, () -> {});
    }

    /** Ends the arrival of a session and runs a task after that. */
    private void lose(SessionReceiver receiver, Runnable then) {
        boolean goesOn = !receiver.isOver();
        receiver.lose(() -> {
            if (goesOn && receiver.isUnfinished() && claims.concerns(receiver.clientId())) {
                unfinished.put(receiver.clientId(), receiver.from());
            }
            then.run();
        });
    }

    /** Runs a task when all nodes know that a session is here, or when its arrival has ended. */
    private void announce(SessionReceiver receiver, Runnable done) {
        whenKnown(LONGEST_ANNOUNCEMENT, all -> {
            if (all || receiver.isLost()) {
                done.run();
            } else {
                announce(receiver, done);
            }
        });
    }

    private void acknowledged(NodeIdentity from, Frame.SessionAck ack) {
        if (ack.ofEpoch() != wire.self().epoch()) {
            return;
        }
        SessionSender sender = sendingByAttempt.get(ack.attempt());
        if (sender == null) {
            return;
        }
        ClaimKey claim = sender.claim();
        if (claim.number() == ack.number() && claim.claimant().equals(from.nodeId()) && claim.epoch() == from.epoch()) {
            sender.acknowledged(ack);
        }
    }

    /** Resolves two sessions of one client: the later claim wins. */
    private void owned(NodeIdentity from, Frame.Owned owned) {
        List<String> mine = new ArrayList<>();
        List<Long> clocks = new ArrayList<>();
        for (int i = 0; i < owned.clientIds().size(); i++) {
            String clientId = owned.clientIds().get(i);
            long theirs = owned.clocks().get(i);
            wire.heardClock(theirs);
            wills.ownedBy(clientId, from.nodeId(), theirs);
            long own = local.clockOf(clientId);
            if (own == LocalClients.NONE || sending.containsKey(clientId) || claims.concerns(clientId)) {
                continue;
            }
            if (theirs > own
                    || (theirs == own && from.nodeId().compareTo(wire.self().nodeId()) > 0)) {
                heirs.put(clientId, new Heir(from, theirs));
            } else {
                mine.add(clientId);
                clocks.add(own);
            }
        }
        if (!mine.isEmpty()) {
            wire.send(from.nodeId(), new Frame.Owned(mine, clocks));
        }
    }

    // --- the view and the clock

    /** A node is reachable: it gets the list of all sessions here. */
    void up(String nodeId) {
        wills.up(nodeId);
        coordinator.up(nodeId);
        claims.viewChanged();
        servers.up(nodeId);
        new OwnedTour(wire, local, List.of(nodeId), clientId -> true).run();
    }

    /** A run of a node has ended or is unreachable. */
    void down(String nodeId) {
        for (SessionSender sender : List.copyOf(sending.values())) {
            if (sender.claim().claimant().equals(nodeId)) {
                sender.giveUp();
            }
        }
        for (SessionReceiver receiver : List.copyOf(receiving.values())) {
            if (receiver.from().nodeId().equals(nodeId)) {
                lose(receiver);
            }
        }
        heirs.values().removeIf(heir -> heir.node().nodeId().equals(nodeId));
        wills.down(nodeId);
        servers.down(nodeId);
        sync.down(nodeId);
        coordinator.down(nodeId);
        claims.viewChanged();
    }

    /** A node that was unreachable for long is removed. */
    void forgotten(String nodeId) {
        wills.forgotten(nodeId);
    }

    void tick(long nowNanos, boolean nodeAway) {
        local.nodeAway(nodeAway);
        claims.tick(nowNanos);
        coordinator.tick(nowNanos);
        sync.tick(nowNanos);
        servers.tick(nowNanos);
        wills.tick(nowNanos);
        List.copyOf(sending.values()).forEach(sender -> sender.tick(nowNanos, this::isHeldUp));
        forget(nowNanos);
        bequeath();
        if (!newIds.isEmpty()) {
            List<String> ids = newIds;
            List<Long> clocks = newClocks;
            newIds = new ArrayList<>();
            newClocks = new ArrayList<>();
            OwnedTour.announce(wire, List.copyOf(wire.others()), ids, clocks);
        }
        if (nowNanos - announcedAtNanos >= SLICE_NANOS) {
            announcedAtNanos = nowNanos;
            tellSlice();
        }
    }

    /** Whether a session cannot be installed here, because messages from other nodes are not accepted. */
    private boolean isHeldUp() {
        return receivingByClient.values().stream().anyMatch(SessionReceiver::isHeldUp);
    }

    /** Removes records of sessions that arrived long ago, and abandons those whose sender has done so. */
    private void forget(long nowNanos) {
        List<Map.Entry<Move, SessionReceiver>> old = new ArrayList<>();
        for (Map.Entry<Move, SessionReceiver> next : receiving.entrySet()) {
            if (nowNanos - next.getValue().usedAtNanos() <= FORGET_NANOS) {
                break; // the others are newer
            }
            old.add(next);
        }
        for (Map.Entry<Move, SessionReceiver> entry : old) {
            SessionReceiver receiver = entry.getValue();
            if (!receiver.isOver() && !receiver.isLost()) {
                lose(receiver);
            }
            if (receiver.isOver()) {
                receiving.remove(entry.getKey(), receiver);
                receivingByClient.remove(receiver.clientId(), receiver);
            }
        }
    }

    /** Announces a part of all sessions, so that missed announcements are repaired after a while. */
    private void tellSlice() {
        int next = (slice + 1) % SLICES;
        slice = next;
        new OwnedTour(wire, local, wire.others(), clientId -> Math.floorMod(clientId.hashCode(), SLICES) == next).run();
    }

    /** Whether no claim of a client is in progress. */
    boolean isSettled(String clientId) {
        return !claims.concerns(clientId);
    }

    /** The number of sessions that are leaving this node. */
    int departing() {
        return sending.size();
    }
}
