// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.bytes.NameCache;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.session.QueueBudget;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterTransport;
import io.smqtt.spi.ClusterTransport.Peer;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One node of the cluster, independent of the transport: knows the members, sends them the routes of this node, keeps theirs, and passes
 * messages to the inboxes and outboxes. All state belongs to the cluster's loop; frames and route changes may come on any thread.
 */
@OnClusterLoop
final class ClusterNode implements ClusterTransport.Handler {

    private static final Logger LOG = LoggerFactory.getLogger(ClusterNode.class);
    private static final int NAMES = 2_048;

    /** The number of ticks of the timer in the interval of a digest. */
    static final int TICKS_PER_DIGEST = 10;

    private final FrameSender frames;
    private final Membership membership;
    private final LoopTasks tasks;
    private final Ticker ticker;
    private final ClusterSettings settings;
    private final LocalPart local;
    private final BrokerObserver observer;
    private final QueueBudget budget;
    private final Parks parks;
    private final NodeMetadata metadata;
    private final FrameGate gate;
    private final ClusterCounters counters = new ClusterCounters();

    private final OwnRoutes own;
    private final RouteAnnouncer announcer;
    private final RouteSender routes;
    private final RetainedWire retainedWire;
    private final RetainedReplica retained;
    private final PeerClocks clocks;
    private final ClusterClients clients;
    private final GroupCalls groups;
    private final RoutePull pull;
    private final PendingSyncs syncs;
    private final NameCache names = new NameCache(NAMES);

    /** Shared by all peers, because a peer that was removed here may remember earlier streams. */
    private int streams;

    private long digestSentAtNanos;
    private final Pauses pauses;
    private final PeerWarnings warnings = new PeerWarnings(LOG);
    private volatile boolean stopped;
    private volatile View view;
    private volatile @Nullable PeerQuestions questions;

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
     * @param parks keeps messages for unreachable nodes
     * @param metadata sent to the other nodes
     * @param gate bounds the frames that wait for the loop
     * @param superseded called on the loop, after {@link Membership#joined}, with the address of an earlier process with this node-id
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
            Parks parks,
            NodeMetadata metadata,
            FrameGate gate,
            Consumer<String> superseded) {
        this.gate = gate;
        this.frames = new FrameSender(self, transport, ticker);
        this.parks = parks;
        this.pauses = new Pauses(ticker);
        this.membership = new Membership(
                frames,
                metadata,
                settings,
                parks.limits().forgetAfter(),
                ticker,
                warnings,
                new MemberEvents(superseded));
        this.tasks = new LoopTasks(loop, this::failed);
        this.ticker = ticker;
        this.settings = settings;
        this.local = local;
        this.observer = observer;
        this.budget = budget;
        this.metadata = metadata;
        this.own = new OwnRoutes(settings.keptChanges());
        this.announcer = new RouteAnnouncer(own, settings, tasks, this::announce);
        this.routes = new RouteSender(own, settings, ticker::nanoTime, frames::send);
        this.retainedWire = new RetainedWire(frames, membership);
        this.retained = new RetainedReplica(
                self,
                settings,
                wallClockMillis,
                ticker::nanoTime,
                local,
                tasks::execute,
                retainedWire,
                this::soon,
                pauses);
        this.clocks = new PeerClocks(wallClockMillis, retained.clock(), warnings);
        this.pull = new RoutePull(settings, ticker, counters, frames::send);
        NodeWire wire =
                new NodeWire(frames, membership, this::acceptOwn, tasks, new ClusterClock(wallClockMillis), ticker);
        this.syncs = new PendingSyncs(local, tasks::execute, wire);
        this.clients = new ClusterClients(
                wire,
                localClients,
                local,
                announcer::flush,
                own::sequence,
                membership::outboxOf,
                settings.retransmit(),
                () -> warnings.warn(
                        "too many wills: not all of them are kept by other nodes ({} at most, {} bytes)",
                        Wills.MAXIMUM_WILLS,
                        Wills.MAXIMUM_BYTES));
        this.groups = new GroupCalls(
                settings,
                this::toAllReachable,
                task -> tasks.schedule(task, GroupCalls.DELAY_MILLIS, TimeUnit.MILLISECONDS),
                local);
        this.digestSentAtNanos = ticker.nanoTime();
        this.view = new View(
                metadata.of(self, 0), List.of(), ClusterStatus.Wills.NONE, ClusterStatus.Retained.NONE, Map.of());
    }

    /** Begins to carry questions. Before the start. */
    @AnyThread
    void carry(PeerQuestions carried) {
        carried.attach(frames, membership, tasks);
        questions = carried;
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

    NodeIdentity self() {
        return frames.self();
    }

    Membership membership() {
        return membership;
    }

    OwnRoutes own() {
        return own;
    }

    /**
     * A subscription of this node was added or removed.
     *
     * @param filter as the client writes it
     * @param difference 1 or -1
     * @param durable whether the subscriber outlives its connection
     */
    @AnyThread
    void localChange(String filter, int difference, boolean durable) {
        if (stopped) {
            return;
        }
        announcer.change(filter, difference, durable);
    }

    /** Runs a task on the loop; its failure is logged. False if the loop has ended. */
    @AnyThread
    boolean execute(Runnable task) {
        return tasks.execute(task);
    }

    private void soon(Runnable task) {
        tasks.schedule(task, settings.flushInterval().toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Logs a failure of this program; the loop continues. */
    private void failed(RuntimeException failure) {
        warnings.warn("unexpected failure on the cluster loop, which continues: {}", failure.toString(), failure);
    }

    /**
     * The broker's tree stores a message. Called in the order of the changes of a topic, while the tree shows the message.
     *
     * @param message the message
     */
    @AnyThread
    void localRetained(ApplicationMessage message) {
        RetainedVersion version = retained.changing(message);
        if (!stopped) {
            execute(() -> retained.stored(message, version));
        }
    }

    /** The retained messages; on the cluster's loop, except for what any thread may call. */
    @AnyThread
    RetainedReplica retained() {
        return retained;
    }

    /** The claims of client identifiers. */
    ClusterClients clients() {
        return clients;
    }

    /** Calls about shared groups. */
    @AnyThread
    GroupCalls groups() {
        return groups;
    }

    private void announce(Frame.Delta delta) {
        byte[] frame = frames.encode(delta);
        membership.all().forEach(member -> frames.send(member, frame));
    }

    private void toAllReachable(Frame frame) {
        byte[] bytes = frames.encode(frame);
        for (Member member : membership.all()) {
            if (member.isReachable()) {
                frames.send(member, bytes);
            }
        }
    }

    private void tick() {
        if (stopped) {
            return;
        }
        try {
            check(ticker.nanoTime());
        } catch (RuntimeException e) {
            failed(e);
        } finally {
            tasks.schedule(this::tick, settings.digestInterval().toNanos() / TICKS_PER_DIGEST, TimeUnit.NANOSECONDS);
        }
    }

    private void check(long now) {
        pauses.alive(now);
        if (now - digestSentAtNanos >= settings.digestInterval().toNanos()) {
            digestSentAtNanos = now;
            gate.keepOnly(membership.present());
            byte[] digest = frames.encode(own.digest());
            byte[] time = frames.encode(clocks.own());
            membership.present().forEach(peer -> {
                frames.send(peer, digest);
                frames.send(peer, time);
            });
            Frame ofRetained = retained.digest();
            if (ofRetained != null) {
                retainedWire.broadcast(ofRetained);
            }
            groups.digest();
        }
        retained.tick(clocks.earliestMillis());
        clients.tick(now, membership.isAnyAbsent());
        routes.tick();
        syncs.answerKnown();
        membership.tick(now);
        parks.tick();
        view = snapshot();
    }

    @Override
    public void up(Peer peer) {
        execute(() -> {
            if (!stopped) {
                membership.up(peer);
            }
        });
    }

    @Override
    public void down(Peer peer) {
        execute(() -> {
            retained.gone(peer);
            routes.gone(peer);
            membership.down(peer);
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
            long now = ticker.nanoTime();
            pauses.alive(now);
            FrameCodec.Received received = FrameCodec.decode(bytes, now, names);
            counters.received(bytes.length);
            accept(from, received);
        } catch (MalformedBytesException e) {
            counters.malformed();
            warnings.warn("dropped a malformed frame from {}: {}", from, e.getMessage());
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

    private void accept(Peer from, FrameCodec.Received received) {
        Frame frame = received.frame();
        Member member = membership.accept(from, received.sender(), frame);
        if (member == null) {
            return;
        }
        if (frame instanceof Frame.Hello hello) {
            if (hello.minVersion() > Frame.VERSION) {
                warnings.warn("{} speaks a newer language only: {}", from, hello.software());
            } else if (hello.reply()) {
                membership.sendHello(from, false);
                frames.send(from, own.digest());
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
            if (isAskedOfUs(from, batch.toEpoch())) {
                member.inbox().receive(member.epoch(), batch);
            }
        } else if (frame instanceof Frame.PublishAck ack) {
            if (ack.ofEpoch() == frames.self().epoch()) {
                member.outbox().acknowledged(ack, ticker.nanoTime());
            }
        } else if (frame instanceof Frame.Sync sync) {
            syncs.add(member, sync);
        } else if (frame instanceof Frame.GroupCall call) {
            groupCall(member, call);
        } else if (frame instanceof Frame.Client client) {
            clients.accept(member.identity(), client);
        } else if (frame instanceof Frame.Talk talk) {
            if (questions != null) {
                questions.accept(member, talk);
            }
        } else if (frame instanceof Frame.Clocks theirs) {
            clocks.heard(member.nodeId(), theirs);
        } else if (frame instanceof Frame.RetainedKnown known
                && known.ofEpoch() != frames.self().epoch()) {
            membership.sendHello(from, true);
        } else if (frame != null) {
            retained.accept(from, member.identity(), frame);
        }
    }

    long nanoTime() {
        return ticker.nanoTime();
    }

    private void groupCall(Member member, Frame.GroupCall call) {
        List<SharedFilter> named = call.groups().stream().map(SharedFilter::of).toList();
        if (call.wants()) {
            named.forEach(group -> local.handOver(group, member.nodeId()));
        } else {
            groups.heardHeld(named);
        }
    }

    private void acceptOwn(Frame.Client frame) {
        if (!stopped) {
            clients.accept(frames.self(), frame);
        }
    }

    /** Whether a request is for this epoch of this node; if not, the epoch is sent back. */
    private boolean isAskedOfUs(Peer from, long ofEpoch) {
        if (ofEpoch != frames.self().epoch()) {
            membership.sendHello(from, true);
            return false;
        }
        return true;
    }

    private boolean sendBulk(Member member, Frame.OutboundBatch batch) {
        Peer peer = member.peer();
        byte[] bytes = frames.encode(batch);
        boolean taken = peer != null && frames.sendBulk(peer, bytes);
        if (taken) {
            counters.sentBulk(batch.count(), bytes.length);
        }
        return taken;
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
     * @param forgotten messages dropped for nodes that are forgotten, by reason
     */
    record View(
            ClusterStatus.Node self,
            List<ClusterStatus.PeerStatus> peers,
            ClusterStatus.Wills wills,
            ClusterStatus.Retained retained,
            Map<DropReason, Long> forgotten) {}

    private View snapshot() {
        return new View(
                metadata.of(frames.self(), own.digest().count()),
                membership.status(ticker.nanoTime()),
                clients.wills().status(),
                retained.status(),
                parks.forgotten());
    }

    boolean hasNothingToSend() {
        return membership.hasNothingToSend() && retained.hasNothingToSay();
    }

    /** Passes the changes of the membership to the parts. */
    private final class MemberEvents implements Membership.Listener {
        private final Consumer<String> superseded;

        private MemberEvents(Consumer<String> superseded) {
            this.superseded = superseded;
        }

        @Override
        public Member joins(String nodeId) {
            LateMember late = new LateMember();
            PeerOutbox outbox = new PeerOutbox(
                    ClusterNode.this::execute,
                    settings,
                    observer,
                    budget,
                    () -> ++streams,
                    batch -> late.member().peer() != null && sendBulk(late.member(), batch),
                    local::redispatch,
                    parks.of(nodeId));
            PeerInbox inbox = new PeerInbox(
                    ClusterNode.this::execute,
                    local::deliver,
                    ack -> frames.send(late.member(), ack),
                    ClusterNode.this::soon,
                    pauses::isRecent,
                    clients.servers().adoptedFor(nodeId));
            LocalPart.RemoteRoutes remote = local.join(nodeId, outbox);
            Member member =
                    new Member(nodeId, outbox, inbox, new PeerRoutes(remote::changed), remote::left, ticker.nanoTime());
            late.is(member);
            return member;
        }

        @Override
        public void connected(Peer peer) {
            retained.catchUp().connected(peer);
            frames.send(peer, own.digest());
            frames.send(peer, clocks.own());
            Frame ofRetained = retained.digest();
            if (ofRetained != null) {
                frames.sendBulk(peer, ofRetained);
            }
        }

        @Override
        public void arrived(Member member) {
            clients.up(member.nodeId());
            groups.greeting().forEach(frame -> frames.send(member, frame));
        }

        @Override
        public void gone(Member member) {
            syncs.drop(member);
            clocks.gone(member.nodeId());
            retained.catchUp().left();
            clients.down(member.nodeId());
        }

        @Override
        public void removed(Member member) {
            syncs.drop(member);
            parks.left(member.outbox().park());
            clients.forgotten(member.nodeId());
        }

        @Override
        public void superseded(String address) {
            superseded.accept(address);
        }
    }
}
