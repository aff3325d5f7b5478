// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.session.QueueBudget;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterTransport;
import io.smqtt.spi.ClusterTransport.Peer;
import io.smqtt.spi.Ticker;
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
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One node among others, whatever carries the frames between them: knows the members, tells them the routes of this node,
 * keeps theirs, and hands messages to the in- and outboxes. Owns all of that on the cluster's loop; frames and changes of
 * routes may come on any thread.
 */
final class ClusterNode implements ClusterTransport.Handler {

    private static final Logger LOG = LoggerFactory.getLogger(ClusterNode.class);
    private static final long COMPLAINT_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long FURTHEST_CLOCK_MILLIS = TimeUnit.DAYS.toMillis(1);
    private static final int MAXIMUM_MEMBERS = 1_000;
    private static final int NAMES = 2_048;
    private static final int TICKS_PER_DIGEST = 10;
    private static final long GROUP_CALL_MILLIS = 100;

    /** Digests of this node that may be lost or late before the others' answer to them is no longer true. */
    private static final int DIGESTS_REMEMBERED = 3;

    /** Digests that a node has left out when it is taken for gone: longer than the transport needs, shorter than a claim waits. */
    private static final int SILENT_TICKS = 15 * TICKS_PER_DIGEST;

    /** The same where the transport, too, has heard nothing of the node: it is not busy. */
    private static final int MUTE_TICKS = 7 * TICKS_PER_DIGEST;

    private final ClusterTransport transport;
    private final ScheduledExecutorService loop;
    private final Ticker ticker;
    private final ClusterSettings settings;
    private final LocalPart local;
    private final BrokerObserver observer;
    private final QueueBudget budget;
    private final Introduction introduction;
    private final FrameGate gate;
    private final ClusterCounters counters = new ClusterCounters();

    private final Queue<RouteRow> localChanges = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean flushDue = new AtomicBoolean();

    private final OwnRoutes own;
    private final RouteSender routes;
    private final Map<String, Member> members = new HashMap<>();
    private final Set<Peer> present = new LinkedHashSet<>(); // so that a simulation can be repeated
    private NodeIdentity self;
    private final RetainedReplica retained;
    private final ClusterClients clients;
    private final GroupCalls groups;
    private final Wire wire = new Wire();
    private final Namesakes namesakes;
    private final Consumer<String> superseded;
    private final List<Asked> asked = new ArrayList<>();
    private final NameCache names = new NameCache(NAMES);
    private final LongSupplier wallClockMillis;
    private long clientClock;

    /** Of all peers together: a peer that was forgotten here may remember the streams of before. */
    private int streams;

    private long toldAtNanos;
    private long complainedAtNanos;
    private volatile boolean stopped;
    private volatile View view;

    /**
     * Creates a node that says nothing before {@link #start()}.
     *
     * @param self who this is
     * @param transport carries frames; started and stopped by somebody else
     * @param loop the cluster's loop, one thread
     * @param ticker a monotonic clock
     * @param wallClockMillis milliseconds since 1970
     * @param settings what it goes by
     * @param local the broker
     * @param localClients its sessions
     * @param observer is told of messages that do not reach a peer
     * @param budget slows publishers
     * @param introduction what others are told of it
     * @param gate bounds the frames that wait for the loop
     * @param superseded is told, on the loop, after {@link #joined}, where another process with this node-id is that was here
     *     before
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
            Introduction introduction,
            FrameGate gate,
            Consumer<String> superseded) {
        this.superseded = superseded;
        this.namesakes =
                new Namesakes(introduction.address(), settings.digestInterval().toNanos() * DIGESTS_REMEMBERED);
        this.gate = gate;
        this.self = self;
        this.transport = transport;
        this.loop = loop;
        this.ticker = ticker;
        this.settings = settings;
        this.local = local;
        this.observer = observer;
        this.budget = budget;
        this.introduction = introduction;
        this.wallClockMillis = wallClockMillis;
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
                this::isSomebodyAway);
        this.clients = new ClusterClients(
                wire,
                localClients,
                local,
                this::flush,
                own::sequence,
                settings.retransmit(),
                () -> complain(
                        "too many wills: not all of them are kept by other nodes ({} at most, {} bytes)",
                        Wills.MAXIMUM_WILLS,
                        Wills.MAXIMUM_BYTES));
        this.groups = new GroupCalls(
                settings,
                frame -> toAllReachable(encode(frame)),
                task -> schedule(task, GROUP_CALL_MILLIS, TimeUnit.MILLISECONDS),
                local::canTakeMore);
        long now = ticker.nanoTime();
        this.toldAtNanos = now;
        this.complainedAtNanos = now - COMPLAINT_NANOS;
        this.view =
                new View(introduction.of(self, 0), List.of(), ClusterStatus.Wills.NONE, ClusterStatus.Retained.NONE);
    }

    /** Begins to look at the clock. Any thread. */
    void start() {
        execute(this::tick);
    }

    /** Says and hears nothing any more. Any thread. */
    void stop() {
        stopped = true;
        gate.close();
    }

    /** Keeps no thread of the transport waiting any more, which is about to stop. Any thread. */
    void leaving() {
        gate.close();
    }

    /** Frames that have come and wait for the loop, in bytes. Any thread. */
    long waitingBytes() {
        return gate.bytes();
    }

    FrameGate gate() {
        return gate;
    }

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
     * A subscription of this node came or went. Any thread.
     *
     * @param filter as the client writes it
     * @param difference 1 or -1
     */
    void localChange(String filter, int difference) {
        if (stopped) {
            return;
        }
        localChanges.add(new RouteRow(filter, difference));
        if (flushDue.compareAndSet(false, true)) {
            schedule(this::flush, settings.flushInterval().toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    /** Has something run later on the loop, whose failure is told; forgets it if the loop has ended. Any thread. */
    private void schedule(Runnable task, long time, TimeUnit unit) {
        try {
            loop.schedule(() -> guarded(task), time, unit);
        } catch (RejectedExecutionException e) {
            LOG.debug("the cluster's loop has ended", e);
        }
    }

    /** Has something run on the loop, whose failure is told; forgets it if the loop has ended. Any thread. */
    void execute(Runnable task) {
        try {
            loop.execute(() -> guarded(task));
        } catch (RejectedExecutionException e) {
            LOG.debug("the cluster's loop has ended", e);
        }
    }

    private void soon(Runnable task) {
        schedule(task, settings.flushInterval().toNanos(), TimeUnit.NANOSECONDS);
    }

    private void guarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException e) {
            failed(e);
        }
    }

    /** A mistake of this program, which must not end what the loop does next. */
    private void failed(RuntimeException failure) {
        complain("the cluster goes on after {}", failure.toString(), failure);
    }

    /**
     * The broker's tree has stored a message. Any thread; in the order in which it does.
     *
     * @param message the message
     * @param fromBefore whether it was there before this node was started
     */
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

    /** Whether a node may come back that has missed something. */
    private boolean isSomebodyAway() {
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

    /** What deals with client identifiers. On the cluster's loop. */
    ClusterClients clients() {
        return clients;
    }

    /** What is said about shared groups. Any thread. */
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
            look(ticker.nanoTime());
        } catch (RuntimeException e) {
            failed(e);
        } finally {
            schedule(this::tick, settings.digestInterval().toNanos() / TICKS_PER_DIGEST, TimeUnit.NANOSECONDS);
        }
    }

    private void look(long now) {
        if (now - toldAtNanos >= settings.digestInterval().toNanos()) {
            toldAtNanos = now;
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
        answerAsked();
        Iterator<Member> all = members.values().iterator();
        while (all.hasNext()) {
            Member member = all.next();
            member.outbox().tick(now);
            if (member.isSilentFor(SILENT_TICKS)
                    || isMuteFor(member)) { // it may not hear us, and has gone on without us
                LOG.warn("node {} is there and says nothing", member.identity());
                gone(member);
            }
            if (member.purgeIfGone(now, settings.routeTtl().toNanos())) {
                LOG.info("node {} has been away too long and is forgotten", member.identity());
                asked.removeIf(question -> question.member == member);
                member.left();
                all.remove();
                clients.forgotten(member.nodeId());
            }
        }
        view = look();
    }

    /** After {@link Member#isSilentFor}, which counts. */
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
            namesakes.gone(peer);
            retained.gone(peer);
            routes.gone(peer);
            for (Member member : members.values()) {
                if (peer.equals(member.peer()) && member.isReachable()) {
                    LOG.warn("node {} cannot be reached", member.identity());
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
        try {
            loop.execute(new Arrival(from, bytes, line));
        } catch (RejectedExecutionException e) {
            gate.handled(line, bytes.length);
            LOG.debug("the cluster's loop has ended", e);
        }
    }

    /** A frame that waits for the loop. */
    private final class Arrival implements Runnable {

        private final Peer from;
        private final byte[] bytes;
        private final FrameGate.Line line;

        Arrival(Peer from, byte[] bytes, FrameGate.Line line) {
            this.from = from;
            this.bytes = bytes;
            this.line = line;
        }

        @Override
        public void run() {
            try {
                handle(from, bytes);
            } finally {
                gate.handled(line, bytes.length);
            }
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
            complain("a frame from {} is thrown away: {}", from, e.getMessage());
        } catch (RuntimeException e) {
            failed(e);
        }
    }

    @Override
    public void refused(Peer from) {
        execute(counters::malformed); // the transport says why
    }

    /** At most one line in ten seconds, whatever is thrown at us. */
    private void complain(String format, Object first, @Nullable Object second) {
        long now = ticker.nanoTime();
        if (now - complainedAtNanos >= COMPLAINT_NANOS) {
            complainedAtNanos = now;
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
                met(from, sender.epoch(), frame);
            }
            return;
        }
        if (frame instanceof Frame.Taken taken) {
            if (present.contains(from)) {
                namesakes.told(from, taken, ticker.nanoTime());
                complain("another process is this node, says {}: that at {}", sender, taken.address());
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
            arrived(member); // it was silent
        }
        if (frame instanceof Frame.Hello hello) {
            namesakes.heardBy(from);
            if (hello.minVersion() > Frame.VERSION) {
                complain("{} speaks a newer language only: {}", from, hello.software());
            } else if (hello.reply()) {
                transport.send(from, encode(hello(false)), false);
                transport.send(from, encode(own.digest()), false);
            }
        } else if (frame instanceof Frame.Delta delta) {
            judge(member, member.routes().apply(member.epoch(), delta));
            answerAsked();
        } else if (frame instanceof Frame.Digest digest) {
            judge(member, member.routes().compare(member.epoch(), digest));
        } else if (frame instanceof Frame.Snapshot snapshot) {
            judge(member, member.routes().apply(member.epoch(), snapshot));
            takeMore(member, snapshot);
            answerAsked();
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
            sync(member, sync);
        } else if (frame instanceof Frame.GroupCall call) {
            heard(member, call);
        } else if (frame instanceof Frame.Client client) {
            clients.accept(member.identity(), client);
        } else if (frame != null) {
            retained.accept(from, frame);
        }
    }

    /** Another process has the node-id of this one: one of the two must go. */
    private void met(Peer from, long epoch, @Nullable Frame frame) {
        Frame.Hello hello = frame instanceof Frame.Hello introduced ? introduced : null;
        if (hello != null && hello.reply()) {
            transport.send(from, encode(hello(false)), false);
        }
        boolean first = namesakes.ahead() == null;
        switch (namesakes.met(from, epoch, hello, self.epoch())) {
            case ASK -> transport.send(from, encode(hello(true)), false);
            case STAY ->
                complain(
                        "another process has the node-id of this node, {}, and is refused: {}",
                        self.nodeId(),
                        hello == null ? from : hello.address());
            case GIVE_WAY -> {
                String ahead = namesakes.ahead();
                if (first && namesakes.hasJoined() && ahead != null) {
                    superseded.accept(ahead);
                }
            }
        }
    }

    /** Clients may come from now on; who comes later with the same node-id gives way. On the cluster's loop. */
    void joined() {
        namesakes.joined();
        byte[] hello = encode(hello(false));
        present.forEach(peer -> transport.send(peer, hello, false));
    }

    long nanoTime() {
        return ticker.nanoTime();
    }

    /** Who else says that it is this node. On the cluster's loop. */
    Namesakes namesakes() {
        return namesakes;
    }

    private void heard(Member member, Frame.GroupCall call) {
        List<SharedFilter> named = call.groups().stream().map(SharedFilter::of).toList();
        if (call.wants()) {
            named.forEach(group -> local.handOver(group, member.nodeId()));
        } else {
            groups.heardHeld(named);
        }
    }

    private void sync(Member member, Frame.Sync sync) {
        Asked question = new Asked(member, member.epoch(), sync);
        if (sync.fence()) {
            local.afterRouted(() -> execute(() -> member.outbox().afterDrained(question::answer)));
        } else {
            asked.add(question);
            answerAsked();
        }
    }

    /** Answers those who wanted to know when their routes are known here. */
    private void answerAsked() {
        asked.removeIf(question -> {
            boolean known = question.member.routes().sequenceOf(question.epoch) >= question.sync.sequence();
            if (known) {
                question.answer();
            }
            return known;
        });
    }

    /** A question that a member has asked. */
    private final class Asked {

        private final Member member;
        private final long epoch;
        private final Frame.Sync sync;

        Asked(Member member, long epoch, Frame.Sync sync) {
            this.member = member;
            this.epoch = epoch;
            this.sync = sync;
        }

        private void answer() {
            wire.send(member.nodeId(), new Frame.Synced(sync.number(), epoch));
        }
    }

    /** How clients' parts speak. */
    private final class Wire implements ClientWire {

        @Override
        public NodeIdentity self() {
            return self;
        }

        @Override
        public Collection<String> others() {
            List<String> all = new ArrayList<>();
            for (Member member : members.values()) {
                if (member.isReachable()) {
                    all.add(member.nodeId());
                }
            }
            return all;
        }

        @Override
        public boolean reaches(String nodeId, long epoch) {
            Member member = members.get(nodeId);
            return member == null
                    ? self.equals(new NodeIdentity(nodeId, epoch))
                    : member.isReachable() && member.epoch() == epoch;
        }

        @Override
        public void send(String nodeId, Frame.Client frame) {
            if (nodeId.equals(self.nodeId())) {
                ClusterNode.this.execute(() -> {
                    if (!stopped) {
                        clients.accept(self, frame);
                    }
                });
                return;
            }
            Member member = members.get(nodeId);
            Peer peer = member == null ? null : member.peer();
            if (peer != null) {
                transport.send(peer, encode(frame), frame instanceof Frame.SessionPart);
            }
        }

        @Override
        public long nextClock() {
            clientClock = Math.max(clientClock + 1, RetainedVersion.clockOf(wallClockMillis.getAsLong()));
            return clientClock;
        }

        @Override
        public void heardClock(long clock) {
            if (clock <= RetainedVersion.clockOf(wallClockMillis.getAsLong() + FURTHEST_CLOCK_MILLIS)) {
                clientClock = Math.max(clientClock, clock);
            }
        }

        @Override
        public long nanoTime() {
            return ticker.nanoTime();
        }

        @Override
        public void later(long millis, Runnable task) {
            schedule(task, millis, TimeUnit.MILLISECONDS);
        }

        @Override
        public void execute(Runnable task) {
            ClusterNode.this.execute(task);
        }
    }

    private void becomeNewerThan(long known) {
        if (known >= self.epoch()) {
            LOG.warn("the clock has gone back: others know a later run of this node");
            self = new NodeIdentity(self.nodeId(), known + 1);
            present.forEach(peer -> transport.send(peer, encode(hello(true)), false));
        }
    }

    /** The member that a frame comes from; null if it is not to be listened to. */
    private @Nullable Member memberOf(NodeIdentity sender, Peer from, @Nullable Frame frame) {
        Member member = members.get(sender.nodeId());
        if (member == null) {
            if (!present.contains(from)) {
                return null; // it says hello when it is seen
            }
            for (Member other : members.values()) {
                if (from.equals(other.peer()) && other.isReachable()) {
                    complain("{} has another node-id than before: {}", from, sender.nodeId());
                    return null;
                }
            }
            if (members.size() >= MAXIMUM_MEMBERS) {
                complain("{} is one node too many: {}", from, sender.nodeId());
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
            complain("{} is another process than that at {}, which is there: refused", sender, member.address());
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
            complain("{} says what {} says, which is there", from, before);
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
                transport.send(from, encode(hello(true)), false); // it was refused when it introduced itself
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
        asked.removeIf(question -> question.member == member);
        clients.down(member.nodeId());
    }

    private void arrived(Member member) {
        LOG.info("node {} is here: {}", member.identity(), member.peer());
        member.reachable(ticker.nanoTime());
        clients.up(member.nodeId());
        groups.greeting().forEach(frame -> send(member, encode(frame)));
    }

    /** Asks for what is missing, but not again while the answer may be on its way. */
    private void judge(Member member, PeerRoutes.Outcome outcome) {
        Peer peer = member.peer();
        if (outcome == PeerRoutes.Outcome.FINE) {
            if (!member.routes().isAssembling()) {
                member.askedAtNanos = Member.NOT_ASKED;
            }
            return;
        }
        long now = ticker.nanoTime();
        boolean open = member.askedAtNanos != Member.NOT_ASKED
                && now - member.askedAtNanos < settings.pullPatience().toNanos();
        if (open || peer == null) {
            return;
        }
        member.askedAtNanos = now;
        counters.pulled();
        Frame more = outcome == PeerRoutes.Outcome.BEHIND ? member.routes().more(member.epoch(), true, 0) : null;
        if (more != null) {
            transport.send(peer, encode(more), false);
            return;
        }
        long have = member.routes().sequenceOf(member.epoch());
        if (outcome == PeerRoutes.Outcome.DIFFERENT) {
            counters.repaired();
            LOG.warn("the routes of node {} are not what it says they are: asking for all", member.identity());
            have = Frame.NOTHING;
        }
        transport.send(peer, encode(new Frame.Pull(member.epoch(), have)), false);
    }

    /** Asks for the next parts in time, so that they come without a break. */
    private void takeMore(Member member, Frame.Snapshot part) {
        Peer peer = member.peer();
        if (peer == null || part.parts() <= settings.snapshotFrames()) {
            return;
        }
        Frame more;
        if (member.routes().isAssembling()) {
            member.askedAtNanos = ticker.nanoTime();
            more = member.routes().more(member.epoch(), false, Math.max(1, settings.snapshotFrames() / 4));
        } else { // tells that it is complete, and asks for what has changed meanwhile
            more = new Frame.More(
                    member.epoch(), member.routes().sequenceOf(member.epoch()), part.number(), part.parts(), false);
        }
        if (more != null) {
            transport.send(peer, encode(more), false);
        }
    }

    /** Tells whether a question is for this run of this node; who asks another one is told which this is. */
    private boolean isAskedOfUs(Peer from, long ofEpoch) {
        if (ofEpoch != self.epoch()) {
            transport.send(from, encode(hello(true)), false);
            return false;
        }
        return true;
    }

    private Frame hello(boolean reply) {
        return introduction.hello(reply, namesakes.hasJoined());
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

    /** How the cluster looked within the last second or so. Any thread. */
    View view() {
        return view;
    }

    /**
     * What this node sees.
     *
     * @param self this node
     * @param peers the others, by name
     * @param wills wills that are kept away from their node
     * @param retained retained messages beside those of its own tree
     */
    record View(
            ClusterStatus.Node self,
            List<ClusterStatus.PeerStatus> peers,
            ClusterStatus.Wills wills,
            ClusterStatus.Retained retained) {}

    private View look() {
        long now = ticker.nanoTime();
        List<ClusterStatus.PeerStatus> peers = new ArrayList<>(members.size());
        members.values().stream()
                .sorted(Comparator.comparing(Member::nodeId))
                .forEach(member -> peers.add(member.status(now)));
        return new View(
                introduction.of(self, own.digest().count()),
                List.copyOf(peers),
                clients.wills().status(),
                retained.status());
    }

    /** Tells whether the routes of all nodes that can be reached are here. On the cluster's loop. */
    boolean knowsAllRoutes() {
        Set<Peer> unknown = new HashSet<>(present);
        unknown.removeIf(namesakes::contains);
        for (Member member : members.values()) {
            Peer peer = member.peer();
            if (peer != null && member.routes().sequenceOf(member.epoch()) != Frame.NOTHING) {
                unknown.remove(peer);
            }
        }
        return unknown.isEmpty();
    }

    /** Tells whether nothing waits for nodes that can be reached. On the cluster's loop. */
    boolean hasNothingToSend() {
        for (Member member : members.values()) {
            if (member.isReachable() && member.outbox().size() > 0) {
                return false;
            }
        }
        return retained.hasNothingToSay();
    }

    /** Shows the nodes that are known. On the cluster's loop. */
    List<NodeIdentity> reachableMembers() {
        List<NodeIdentity> all = new ArrayList<>();
        for (Member member : members.values()) {
            if (member.isReachable()) {
                all.add(member.identity());
            }
        }
        return all;
    }

    /** A member whose boxes are made before it. */
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
