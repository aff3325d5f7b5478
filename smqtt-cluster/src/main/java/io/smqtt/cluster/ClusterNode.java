// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.log.LogLimiter;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.session.QueueBudget;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterTransport;
import io.smqtt.spi.ClusterTransport.Peer;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.slf4j.helpers.MessageFormatter;

/**
 * One node of the cluster, independent of the transport: knows the members, sends them the routes of this node, keeps theirs, and passes
 * messages to the inboxes and outboxes. All state belongs to the cluster's loop; frames and route changes may come on any thread.
 */
@OnClusterLoop
final class ClusterNode implements ClusterTransport.Handler {

    private static final Logger LOG = LoggerFactory.getLogger(ClusterNode.class);
    private static final int WARNINGS_PER_MINUTE = 10; // once for each kind and peer
    private static final int MAXIMUM_MEMBERS = 1_000;
    private static final int NAMES = 2_048;
    private static final int TICKS_PER_DIGEST = 10;
    private static final long GROUP_CALL_MILLIS = 100;

    /** The number of digests of this node that may be lost or late before the answers of other nodes count as outdated. */
    private static final int DIGESTS_REMEMBERED = 3;

    /**
     * The number of missing digests after which a node counts as failed: longer than the transport needs, shorter than the timeout of a
     * claim.
     */
    private static final int SILENT_TICKS = 15 * TICKS_PER_DIGEST;

    /** The same if the transport has received nothing either, so that the node is not just busy. */
    private static final int MUTE_TICKS = 7 * TICKS_PER_DIGEST;

    private final ClusterTransport transport;
    private final LoopTasks tasks;
    private final Ticker ticker;
    private final ClusterSettings settings;
    private final LocalPart local;
    private final BrokerObserver observer;
    private final QueueBudget budget;
    private final NodeMetadata metadata;
    private final FrameGate gate;
    private final ClusterCounters counters = new ClusterCounters();

    private final Queue<RouteRow> localChanges = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean flushDue = new AtomicBoolean();

    private final OwnRoutes own;
    private final RouteSender routes;
    private final Map<String, Member> members = new HashMap<>();
    private final Set<Peer> present = new LinkedHashSet<>(); // ordered, so that simulations are repeatable
    private NodeIdentity self;
    private final RetainedReplica retained;
    private final ClusterClients clients;
    private final GroupCalls groups;
    private final DuplicateNodeIds duplicates;
    private final Consumer<String> superseded;
    private final RoutePull pull;
    private final PendingSyncs syncs;
    private final NameCache names = new NameCache(NAMES);

    /** Shared by all peers, because a peer that was removed here may remember earlier streams. */
    private int streams;

    private long digestSentAtNanos;
    private final LogLimiter warnings = new LogLimiter(LOG, Level.WARN, 1, WARNINGS_PER_MINUTE);
    private volatile boolean stopped;
    private volatile View view;

    /**
     * Creates a node that sends nothing before {@link #start()}.
     *
     * @param self the identity of this node
     * @param transport carries frames; started and stopped by the caller
     * @param loop the cluster's loop, one thread
     * @param ticker a monotonic clock
     * @param wallClockMillis milliseconds since 1970
     * @param settings intervals and limits
     * @param local the broker
     * @param localClients its sessions
     * @param observer notified of messages that do not reach a peer
     * @param budget slows publishers
     * @param metadata sent to the other nodes
     * @param gate bounds the frames that wait for the loop
     * @param superseded called on the loop, after {@link #joined}, with the address of an earlier process with this node-id
     */
    ClusterNode(
            NodeIdentity self,
            ClusterTransport transport,
            ScheduledExecutorService loop,
            Ticker ticker,
            LongSupplier wallClockMillis,
            ClusterSettings settings,
            LocalPart local,
            LocalClients localClients,
            BrokerObserver observer,
            QueueBudget budget,
            NodeMetadata metadata,
            FrameGate gate,
            Consumer<String> superseded) {
        this.superseded = superseded;
        this.duplicates = new DuplicateNodeIds(
                metadata.address(), settings.digestInterval().toNanos() * DIGESTS_REMEMBERED);
        this.gate = gate;
        this.self = self;
        this.transport = transport;
        this.tasks = new LoopTasks(loop, this::failed);
        this.ticker = ticker;
        this.settings = settings;
        this.local = local;
        this.observer = observer;
        this.budget = budget;
        this.metadata = metadata;
        this.own = new OwnRoutes(settings.keptChanges());
        this.routes = new RouteSender(
                own, settings, ticker::nanoTime, (peer, frame) -> transport.send(peer, encode(frame), false));
        this.retained = new RetainedReplica(
                self.nodeId(),
                settings,
                wallClockMillis,
                ticker::nanoTime,
                this::storeRetained,
                this::broadcast,
                (peer, frame) -> transport.send(peer, encode(frame), true),
                this::soon,
                this::isAnyMemberAbsent);
        this.pull =
                new RoutePull(settings, ticker, counters, (peer, frame) -> transport.send(peer, encode(frame), false));
        NodeWire wire = new NodeWire(
                () -> this.self,
                members,
                this::sendClientFrame,
                this::acceptOwn,
                tasks,
                new ClusterClock(wallClockMillis),
                ticker);
        this.syncs = new PendingSyncs(local, tasks::execute, wire);
        this.clients = new ClusterClients(
                wire,
                localClients,
                local,
                this::flush,
                own::sequence,
                settings.retransmit(),
                () -> warn(
                        "too many wills: not all of them are kept by other nodes ({} at most, {} bytes)",
                        Wills.MAXIMUM_WILLS,
                        Wills.MAXIMUM_BYTES));
        this.groups = new GroupCalls(
                settings,
                frame -> toAllReachable(encode(frame)),
                task -> tasks.schedule(task, GROUP_CALL_MILLIS, TimeUnit.MILLISECONDS),
                local::canTakeMore);
        long now = ticker.nanoTime();
        this.digestSentAtNanos = now;
        this.view = new View(metadata.of(self, 0), List.of(), ClusterStatus.Wills.NONE, ClusterStatus.Retained.NONE);
    }

    /** Starts the timer. */
    @AnyThread
    void start() {
        execute(this::tick);
    }

    /** Stops the node: it sends and handles no frames after this. */
    @AnyThread
    void stop() {
        stopped = true;
        gate.close();
    }

    /** Releases the threads of the transport that wait at the gate, before the transport stops. */
    @AnyThread
    void leaving() {
        gate.close();
    }

    /** Bytes of received frames that wait for the loop. */
    @AnyThread
    long waitingBytes() {
        return gate.bytes();
    }

    FrameGate gate() {
        return gate;
    }

    @AnyThread
    ClusterCounters counters() {
        return counters;
    }

    /** On the cluster's loop. */
    NodeIdentity self() {
        return self;
    }

    /** On the cluster's loop. */
    Collection<Member> members() {
        return members.values();
    }

    /** On the cluster's loop. */
    OwnRoutes own() {
        return own;
    }

    /**
     * A subscription of this node was added or removed.
     *
     * @param filter as the client writes it
     * @param difference 1 or -1
     */
    @AnyThread
    void localChange(String filter, int difference) {
        if (stopped) {
            return;
        }
        localChanges.add(new RouteRow(filter, difference));
        if (flushDue.compareAndSet(false, true)) {
            tasks.schedule(this::flush, settings.flushInterval().toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    /** Runs a task on the loop; its failure is logged. Does nothing when the loop has ended. */
    @AnyThread
    void execute(Runnable task) {
        tasks.execute(task);
    }

    private void soon(Runnable task) {
        tasks.schedule(task, settings.flushInterval().toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Logs a failure of this program; the loop continues. */
    private void failed(RuntimeException failure) {
        warn("unexpected failure on the cluster loop, which continues: {}", failure.toString(), failure);
    }

    /**
     * The broker's tree has stored a message. Called in that order.
     *
     * @param message the message
     * @param fromBefore whether it existed before the start of this node
     */
    @AnyThread
    void localRetained(ApplicationMessage message, boolean fromBefore) {
        if (stopped) {
            return;
        }
        execute(() -> {
            if (fromBefore) {
                retained.recovered(message);
            } else {
                retained.stored(message);
            }
        });
    }

    private void storeRetained(ApplicationMessage message) {
        local.retain(message, () -> execute(() -> retained.refused(message)));
    }

    private void broadcast(Frame frame) {
        if (!present.isEmpty()) {
            byte[] bytes = encode(frame);
            present.forEach(peer -> transport.send(peer, bytes, true));
        }
    }

    /** Whether a node that may return has missed changes. */
    private boolean isAnyMemberAbsent() {
        for (Member member : members.values()) {
            if (!member.isReachable()) {
                return true;
            }
        }
        return false;
    }

    /** On the cluster's loop. */
    RetainedReplica retained() {
        return retained;
    }

    /** The claims of client identifiers. */
    @OnClusterLoop
    ClusterClients clients() {
        return clients;
    }

    /** Calls about shared groups. */
    @AnyThread
    GroupCalls groups() {
        return groups;
    }

    private void toAllReachable(byte[] frame) {
        for (Member member : members.values()) {
            if (member.isReachable()) {
                send(member, frame);
            }
        }
    }

    private void flush() {
        flushDue.set(false);
        for (RouteRow next = localChanges.poll(); next != null; next = localChanges.poll()) {
            own.change(next.filter(), next.weight());
        }
        long first = own.sequence() + 1;
        List<RouteRow> changed = own.flush();
        for (int from = 0; from < changed.size(); from += settings.rowsPerFrame()) {
            List<RouteRow> part = changed.subList(from, Math.min(changed.size(), from + settings.rowsPerFrame()));
            byte[] frame = encode(new Frame.Delta(first + from, part));
            members.values().forEach(member -> send(member, frame));
        }
    }

    private void tick() {
        if (stopped) {
            return;
        }
        try {
            checkMembers(ticker.nanoTime());
        } catch (RuntimeException e) {
            failed(e);
        } finally {
            tasks.schedule(this::tick, settings.digestInterval().toNanos() / TICKS_PER_DIGEST, TimeUnit.NANOSECONDS);
        }
    }

    private void checkMembers(long now) {
        if (now - digestSentAtNanos >= settings.digestInterval().toNanos()) {
            digestSentAtNanos = now;
            gate.keepOnly(present);
            byte[] digest = encode(own.digest());
            present.forEach(peer -> transport.send(peer, digest, false));
            Frame ofRetained = retained.digest();
            if (ofRetained != null) {
                broadcast(ofRetained);
            }
        }
        retained.tick();
        clients.tick(now);
        routes.tick();
        syncs.answerKnown();
        Iterator<Member> all = members.values().iterator();
        while (all.hasNext()) {
            Member member = all.next();
            member.outbox().tick(now);
            if (member.isSilentFor(SILENT_TICKS)
                    || isMuteFor(member)) { // it may not receive our frames, and has continued without this node
                LOG.warn(
                        "node {} is unresponsive: connected, but no frame for {} s",
                        member.identity(),
                        member.silentMillis(now) / 1_000);
                gone(member);
            }
            if (member.purgeIfGone(now, settings.routeTtl().toNanos())) {
                LOG.info(
                        "node {} removed: unreachable for more than {} s",
                        member.identity(),
                        settings.routeTtl().toSeconds());
                syncs.drop(member);
                member.left();
                all.remove();
                clients.forgotten(member.nodeId());
            }
        }
        view = snapshot();
    }

    /** Call after {@link Member#isSilentFor}, which counts. */
    private boolean isMuteFor(Member member) {
        Peer peer = member.peer();
        return peer != null && member.hasBeenSilentFor(MUTE_TICKS) && transport.isSilent(peer);
    }

    @Override
    public void up(Peer peer) {
        execute(() -> {
            if (stopped) {
                return;
            }
            present.add(peer);
            transport.send(peer, encode(hello(true)), false);
            transport.send(peer, encode(own.digest()), false);
            Frame ofRetained = retained.digest();
            if (ofRetained != null) {
                transport.send(peer, encode(ofRetained), true);
            }
            for (Member member : members.values()) {
                if (peer.equals(member.peer())) {
                    arrived(member);
                }
            }
        });
    }

    @Override
    public void down(Peer peer) {
        execute(() -> {
            present.remove(peer);
            duplicates.gone(peer);
            retained.gone(peer);
            routes.gone(peer);
            for (Member member : members.values()) {
                if (peer.equals(member.peer()) && member.isReachable()) {
                    LOG.warn("node {} is unreachable", member.identity());
                    gone(member);
                }
            }
        });
    }

    @Override
    public void received(Peer from, byte[] bytes) {
        FrameGate.Line line = gate.enter(from, bytes.length);
        if (line == null) {
            counters.refused();
            return;
        }
        if (!tasks.execute(() -> arrived(from, bytes, line))) {
            gate.handled(line, bytes.length);
        }
    }

    private void arrived(Peer from, byte[] bytes, FrameGate.Line line) {
        try {
            handle(from, bytes);
        } finally {
            gate.handled(line, bytes.length);
        }
    }

    private void handle(Peer from, byte[] bytes) {
        if (stopped) {
            return;
        }
        try {
            FrameCodec.Received received = FrameCodec.decode(bytes, ticker.nanoTime(), names);
            counters.received(bytes.length);
            accept(from, received);
        } catch (MalformedFrameException e) {
            counters.malformed();
            warn("dropped a malformed frame from {}: {}", from, e.getMessage());
        } catch (RuntimeException e) {
            failed(e);
        }
    }

    @Override
    public void refused(ClusterTransport.Refusal reason) {
        counters.refusedConnection(reason); // logged by the transport
        if (reason == ClusterTransport.Refusal.FRAME) {
            counters.malformed();
        }
    }

    /** Logs a warning once a minute for each kind and peer, and at most {@link #WARNINGS_PER_MINUTE} in total. */
    private void warn(String format, Object first, @Nullable Object second) {
        if (warnings.allows(MessageFormatter.format(format, first, "…").getMessage())) {
            LOG.warn(format, first, second);
        }
    }

    private void accept(Peer from, FrameCodec.Received received) {
        NodeIdentity sender = received.sender();
        if (received.frame() instanceof Frame.Stale stale) {
            becomeNewerThan(stale.knownEpoch());
            return;
        }
        Frame frame = received.frame();
        if (sender.nodeId().equals(self.nodeId())) {
            if (present.contains(from)) {
                duplicateNodeId(from, sender.epoch(), frame);
            }
            return;
        }
        if (frame instanceof Frame.Taken taken) {
            if (present.contains(from)) {
                duplicates.reported(from, taken, ticker.nanoTime());
                warn("node {} reports another process with this node-id at {}", sender, taken.address());
            }
            return;
        }
        Member member = memberOf(sender, from, frame);
        if (member == null) {
            return;
        }
        member.heard(
                frame instanceof Frame.Hello hello ? hello : null,
                frame instanceof Frame.Digest digest ? digest.sequence() : Frame.NOTHING,
                ticker.nanoTime());
        if (!member.isReachable() && from.equals(member.peer()) && present.contains(from)) {
            arrived(member); // it was unresponsive
        }
        if (frame instanceof Frame.Hello hello) {
            duplicates.acceptedBy(from);
            if (hello.minVersion() > Frame.VERSION) {
                warn("{} speaks a newer language only: {}", from, hello.software());
            } else if (hello.reply()) {
                transport.send(from, encode(hello(false)), false);
                transport.send(from, encode(own.digest()), false);
            }
        } else if (frame instanceof Frame.Delta delta) {
            pull.requestMissing(member, member.routes().apply(member.epoch(), delta));
            syncs.answerKnown();
        } else if (frame instanceof Frame.Digest digest) {
            pull.requestMissing(member, member.routes().compare(member.epoch(), digest));
        } else if (frame instanceof Frame.Snapshot snapshot) {
            pull.requestMissing(member, member.routes().apply(member.epoch(), snapshot));
            pull.requestNextParts(member, snapshot);
            syncs.answerKnown();
        } else if (frame instanceof Frame.Pull pull) {
            if (isAskedOfUs(from, pull.ofEpoch())) {
                routes.answer(from, pull.haveSequence());
            }
        } else if (frame instanceof Frame.More more) {
            if (isAskedOfUs(from, more.ofEpoch())) {
                routes.answer(from, more);
            }
        } else if (frame instanceof Frame.PublishBatch batch) {
            if (batch.toEpoch() == self.epoch()) {
                member.inbox().receive(member.epoch(), batch);
            } else {
                transport.send(from, encode(hello(true)), false);
            }
        } else if (frame instanceof Frame.PublishAck ack) {
            if (ack.ofEpoch() == self.epoch()) {
                member.outbox().acknowledged(ack, ticker.nanoTime());
            }
        } else if (frame instanceof Frame.Sync sync) {
            syncs.add(member, sync);
        } else if (frame instanceof Frame.GroupCall call) {
            groupCall(member, call);
        } else if (frame instanceof Frame.Client client) {
            clients.accept(member.identity(), client);
        } else if (frame != null) {
            retained.accept(from, frame);
        }
    }

    /** Another process has the node-id of this one: one of the two must leave. */
    private void duplicateNodeId(Peer from, long epoch, @Nullable Frame frame) {
        Frame.Hello hello = frame instanceof Frame.Hello introduced ? introduced : null;
        if (hello != null && hello.reply()) {
            transport.send(from, encode(hello(false)), false);
        }
        boolean first = duplicates.ahead() == null;
        switch (duplicates.seen(from, epoch, hello, self.epoch())) {
            case ASK -> transport.send(from, encode(hello(true)), false);
            case STAY ->
                warn(
                        "rejected a process with the node-id of this node, {}: {}",
                        self.nodeId(),
                        hello == null ? from : hello.address());
            case GIVE_WAY -> {
                String ahead = duplicates.ahead();
                if (first && duplicates.hasJoined() && ahead != null) {
                    superseded.accept(ahead);
                }
            }
        }
    }

    /** Clients may connect from now on; a later process with the same node-id must leave. */
    @OnClusterLoop
    void joined() {
        duplicates.joined();
        byte[] hello = encode(hello(false));
        present.forEach(peer -> transport.send(peer, hello, false));
    }

    long nanoTime() {
        return ticker.nanoTime();
    }

    /** Other processes with the node-id of this node. */
    @OnClusterLoop
    DuplicateNodeIds duplicates() {
        return duplicates;
    }

    private void groupCall(Member member, Frame.GroupCall call) {
        List<SharedFilter> named = call.groups().stream().map(SharedFilter::of).toList();
        if (call.wants()) {
            named.forEach(group -> local.handOver(group, member.nodeId()));
        } else {
            groups.heardHeld(named);
        }
    }

    private void sendClientFrame(Member member, Frame.Client frame) {
        Peer peer = member.peer();
        if (peer != null) {
            transport.send(peer, encode(frame), frame instanceof Frame.SessionPart);
        }
    }

    private void acceptOwn(Frame.Client frame) {
        if (!stopped) {
            clients.accept(self, frame);
        }
    }

    private void becomeNewerThan(long known) {
        if (known >= self.epoch()) {
            LOG.warn("the clock went backwards: other nodes know a later epoch of this node");
            self = new NodeIdentity(self.nodeId(), known + 1);
            present.forEach(peer -> transport.send(peer, encode(hello(true)), false));
        }
    }

    /** The member that sent a frame; null if the frame must be ignored. */
    private @Nullable Member memberOf(NodeIdentity sender, Peer from, @Nullable Frame frame) {
        Member member = members.get(sender.nodeId());
        if (member == null) {
            if (!present.contains(from)) {
                return null; // it sends Hello when it is seen
            }
            for (Member other : members.values()) {
                if (from.equals(other.peer()) && other.isReachable()) {
                    warn("rejected {}: its node-id has changed to {}", from, sender.nodeId());
                    return null;
                }
            }
            if (members.size() >= MAXIMUM_MEMBERS) {
                warn("rejected {}: too many nodes, no room for {}", from, sender.nodeId());
                return null;
            }
            member = join(sender.nodeId());
        }
        Peer before = member.peer();
        boolean moved = !from.equals(before);
        if (moved
                && before != null
                && present.contains(before)
                && member.isReachable()
                && !member.isReplacedBy(frame)) {
            warn("rejected {}: another process with its node-id is connected at {}", sender, member.address());
            if (frame instanceof Frame.Hello || frame instanceof Frame.Digest) {
                transport.send(from, encode(new Frame.Taken(member.epoch(), member.address())), false);
            }
            return null;
        }
        if (sender.epoch() < member.epoch()) {
            if (before != null && moved) {
                transport.send(from, encode(new Frame.Stale(member.epoch())), false);
            }
            return null;
        }
        if (moved && before != null && present.contains(before) && !present.contains(from)) {
            warn("rejected {}: it repeats frames of {}, which is connected", from, before);
            return null;
        }
        if (sender.epoch() > member.epoch() || moved) {
            if (member.isReachable()) {
                gone(member);
            }
            member.runs(sender.epoch(), from);
            if (present.contains(from)) {
                arrived(member);
            } else {
                member.gone(ticker.nanoTime());
            }
            if (!(frame instanceof Frame.Hello)) {
                transport.send(from, encode(hello(true)), false); // its Hello was refused
            }
        }
        return member;
    }

    private Member join(String nodeId) {
        LateMember late = new LateMember();
        PeerOutbox outbox = new PeerOutbox(
                this::execute,
                settings,
                observer,
                budget,
                () -> ++streams,
                batch -> late.member().peer() != null && sendBulk(late.member(), batch),
                (message, group) -> local.redispatch(message, group, nodeId));
        PeerInbox inbox =
                new PeerInbox(this::execute, local::deliver, ack -> send(late.member(), encode(ack)), this::soon);
        LocalPart.RemoteRoutes remote = local.join(nodeId, outbox);
        Member member =
                new Member(nodeId, outbox, inbox, new PeerRoutes(remote::changed), remote::left, ticker.nanoTime());
        late.known = member;
        members.put(nodeId, member);
        return member;
    }

    private void gone(Member member) {
        member.gone(ticker.nanoTime());
        syncs.drop(member);
        clients.down(member.nodeId());
    }

    private void arrived(Member member) {
        LOG.info("node {} is reachable at {}", member.identity(), member.peer());
        member.reachable(ticker.nanoTime());
        clients.up(member.nodeId());
        groups.greeting().forEach(frame -> send(member, encode(frame)));
    }

    /** Whether a request is for this epoch of this node; if not, the epoch is sent back. */
    private boolean isAskedOfUs(Peer from, long ofEpoch) {
        if (ofEpoch != self.epoch()) {
            transport.send(from, encode(hello(true)), false);
            return false;
        }
        return true;
    }

    private Frame hello(boolean reply) {
        return metadata.hello(reply, duplicates.hasJoined());
    }

    private boolean sendBulk(Member member, Frame.OutboundBatch batch) {
        Peer peer = member.peer();
        byte[] bytes = encode(batch);
        boolean taken = peer != null && transport.send(peer, bytes, true);
        if (taken) {
            counters.sentBulk(batch.count(), bytes.length);
        }
        return taken;
    }

    private void send(Member member, byte[] frame) {
        Peer peer = member.peer();
        if (peer != null) {
            transport.send(peer, frame, false);
        }
    }

    private byte[] encode(Frame frame) {
        return FrameCodec.encode(self, frame, ticker.nanoTime());
    }

    /** The cluster as it was about a second ago. */
    @AnyThread
    View view() {
        return view;
    }

    /**
     * The cluster as this node sees it.
     *
     * @param self this node
     * @param peers the others, by name
     * @param wills the replicated wills
     * @param retained the replicated retained messages
     */
    record View(
            ClusterStatus.Node self,
            List<ClusterStatus.PeerStatus> peers,
            ClusterStatus.Wills wills,
            ClusterStatus.Retained retained) {}

    private View snapshot() {
        long now = ticker.nanoTime();
        List<ClusterStatus.PeerStatus> peers = new ArrayList<>(members.size());
        members.values().stream()
                .sorted(Comparator.comparing(Member::nodeId))
                .forEach(member -> peers.add(member.status(now)));
        return new View(
                metadata.of(self, own.digest().count()),
                List.copyOf(peers),
                clients.wills().status(),
                retained.status());
    }

    /** Whether the routes of all reachable nodes are known. */
    @OnClusterLoop
    boolean knowsAllRoutes() {
        Set<Peer> unknown = new HashSet<>(present);
        unknown.removeIf(duplicates::contains);
        for (Member member : members.values()) {
            Peer peer = member.peer();
            if (peer != null && member.routes().sequenceOf(member.epoch()) != Frame.NOTHING) {
                unknown.remove(peer);
            }
        }
        return unknown.isEmpty();
    }

    /** Whether no message waits for a reachable node. */
    @OnClusterLoop
    boolean hasNothingToSend() {
        for (Member member : members.values()) {
            if (member.isReachable() && member.outbox().size() > 0) {
                return false;
            }
        }
        return retained.hasNothingToSay();
    }

    /** Returns the known nodes. */
    @OnClusterLoop
    List<NodeIdentity> reachableMembers() {
        List<NodeIdentity> all = new ArrayList<>();
        for (Member member : members.values()) {
            if (member.isReachable()) {
                all.add(member.identity());
            }
        }
        return all;
    }

    /** A reference to a member whose boxes are created before it. */
    private static final class LateMember {

        private @Nullable Member known;

        private Member member() {
            Member member = known;
            if (member == null) {
                throw new IllegalStateException("not yet a member");
            }
            return member;
        }
    }
}
