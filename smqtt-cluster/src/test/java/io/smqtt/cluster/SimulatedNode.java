// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.config.SharedStrategy;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.MessageIds;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RetainedMessages;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Router;
import io.smqtt.routing.SubscriptionIndex;
import io.smqtt.session.NodeQueues;
import io.smqtt.session.QueueBudget;
import io.smqtt.session.SessionRegistry;
import io.smqtt.session.Stores;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClaimRefusedException;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ClusterTransport;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.test.cluster.SimulatedLoop;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.Simulation;
import io.smqtt.test.store.ManualStore;
import io.smqtt.topic.SharedFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * One run of a node in the simulated network. In the place of a broker stands the simplest thing that routes: subscriptions
 * are exact filters, and a message goes to each node that has its topic as a filter.
 */
final class SimulatedNode implements LocalPart, BrokerObserver {

    static { // simulated nodes come and go all the time
        ((Logger) LoggerFactory.getLogger(ClusterNode.class)).setLevel(Level.ERROR);
        ((Logger) LoggerFactory.getLogger(Membership.class)).setLevel(Level.ERROR);
    }

    private final Simulation simulation;
    private final SimulatedNetwork.Endpoint process;
    private final Set<ClusterTransport.Peer> silent = new HashSet<>();
    private final SimulatedLoop loop;
    private final ClusterNode node;
    private final String nodeId;
    private final Map<String, Integer> subscriptions = new TreeMap<>();
    private final Map<String, Integer> cleanSubscriptions = new TreeMap<>();
    private final Map<String, Map<String, Integer>> remote = new HashMap<>();
    private final Map<String, PeerOutbox> outboxes = new HashMap<>();
    private final List<ParkLog.Alarm> alarms = new ArrayList<>();
    private final List<Arrival> arrivals = new ArrayList<>();
    private final Map<String, List<Long>> arrivalsFor = new HashMap<>();
    private final Map<String, List<Long>> acceptedFor = new HashMap<>();
    private final Map<DropReason, Integer> drops = new EnumMap<>(DropReason.class);
    private final QueueBudget budget = new QueueBudget(Long.MAX_VALUE);
    private final Map<String, String> tree = new TreeMap<>();
    private final Map<String, ApplicationMessage> messages = new HashMap<>();
    private final Map<String, Stored> store = new TreeMap<>();
    private byte @Nullable [] note;
    private final MessageIds ids = new MessageIds();
    private long clockAheadMillis;
    private long longestTaking;
    private boolean refusesGroups;
    private final List<SharedFilter> requeued = new ArrayList<>();
    private long cannotTake = -1;
    private LongPredicate refused = number -> false;
    private boolean holdsSentOn;
    private final List<Consumer<Boolean>> heldSentOn = new ArrayList<>();
    private int left;
    private boolean failsToRetain;
    private int mostRetained = Integer.MAX_VALUE;
    private int retainedFromElsewhere;
    private int failures;
    private final SimulatedClients clients;
    private final LoopBuffers buffers;
    private final List<String> numbers = new ArrayList<>();
    private int deliveries;
    private long deliveredBytes;

    /** A message that was taken over. */
    record Arrival(
            String from,
            String topic,
            long number,
            QoS qos,
            boolean toAll,
            List<SharedFilter> groups,
            boolean repeated) {}

    SimulatedNode(
            Simulation simulation, SimulatedNetwork network, String nodeId, long epoch, ClusterSettings settings) {
        this(simulation, network, nodeId, epoch, settings, usualLimits(settings), null);
    }

    /** Half of what a queue may have, as much as there are bytes for; what is above is refused. */
    private static ParkLimits usualLimits(ClusterSettings settings) {
        return new ParkLimits(settings.routeTtl(), settings.queueBytes() / 2, true);
    }

    /** A run that keeps messages for other nodes in a store, with what is in it. */
    SimulatedNode(
            Simulation simulation,
            SimulatedNetwork network,
            String nodeId,
            long epoch,
            ClusterSettings settings,
            ParkLimits limits,
            @Nullable ManualStore store) {
        this.simulation = simulation;
        this.nodeId = nodeId;
        this.process = network.start(nodeId);
        this.loop = new SimulatedLoop(simulation);
        this.clients = new SimulatedClients(loop);
        this.buffers = new LoopBuffers(loop);
        NodeQueues queues = store == null ? null : queuesIn(store);
        Parks parks = new Parks(
                limits,
                queues == null ? null : new ParkStore(queues, loop),
                this,
                simulation::nanoTime,
                new ParkLog(simulation::nanoTime, alarms::add));
        this.node = new ClusterNode(
                new NodeIdentity(nodeId, epoch),
                new Ears(process, silent),
                loop,
                simulation,
                this::wallClockMillis,
                settings,
                this,
                clients,
                this,
                budget,
                parks,
                new NodeMetadata("test", nodeId, 1, nodeId.startsWith("front"), ""),
                new FrameGate(Long.MAX_VALUE, Long.MAX_VALUE), // whoever delivers is the loop itself
                address -> {});
        if (queues != null) {
            loop.execute(() -> parks.recover(
                    queues, (found, since) -> node.membership().absent(found.nodeId(), since, found.filters())));
        }
        PeerQuestions questions = new PeerQuestions();
        node.carry(questions);
        node.clients().servers().kept().ask(questions);
        node.start();
        process.start(node).block();
    }

    /** The queues of other nodes that a broker finds in its store. */
    @Nullable
    NodeQueues queuesIn(ManualStore store) {
        Router router = new Router(
                List.of(),
                new SubscriptionIndex(SharedStrategy.ROUND_ROBIN),
                new RetainedMessages(1, 1),
                BrokerObserver.NONE);
        SessionRegistry sessions = new SessionRegistry(
                router,
                List.of(),
                request -> Mono.just(AccessDecision.ALLOW),
                BrokerObserver.NONE,
                simulation,
                LimitsConfig.defaults(),
                SessionConfig.defaults(),
                new QueueBudget(1),
                new Stores(store, List.of(), true));
        sessions.recover();
        return sessions.nodeQueues();
    }

    /** The alarms about messages that were dropped. */
    List<ParkLog.Alarm> alarms() {
        return alarms;
    }

    /** What the transport of a node knows besides frames. */
    private record Ears(ClusterTransport process, Set<Peer> silent) implements ClusterTransport {

        @Override
        public Mono<Void> start(Handler handler) {
            return process.start(handler);
        }

        @Override
        public boolean send(Peer peer, byte[] frame, boolean bulk) {
            return process.send(peer, frame, bulk);
        }

        @Override
        public boolean isSilent(Peer peer) {
            return silent.contains(peer);
        }

        @Override
        public Mono<Void> stop() {
            return process.stop();
        }
    }

    /** From now on the transport says that nothing of another node arrives. */
    void hearsNothingOf(SimulatedNode other) {
        silent.add(other.process);
    }

    void crash() {
        process.crash();
        loop.shutdown();
    }

    SimulatedClients clients() {
        return clients;
    }

    void claim(ClientIdentity client, Consumer<@Nullable ReasonCode> outcome) {
        claim(client, false, false, refused -> outcome.accept(refused == null ? null : refused.reason()));
    }

    /** A client connects with or without a clean start, for a session that is stored or not. */
    void claim(
            ClientIdentity client,
            boolean cleanStart,
            boolean stored,
            Consumer<@Nullable ClaimRefusedException> outcome) {
        loop.execute(() -> node.clients().claim(client, cleanStart, stored, outcome));
    }

    void settled(ClientIdentity client) {
        loop.execute(() -> node.clients().settled(client));
    }

    @Override
    public void afterRouted(Runnable done) {
        loop.execute(done);
    }

    boolean isAlive() {
        return process.isAlive();
    }

    String nodeId() {
        return nodeId;
    }

    ClusterNode node() {
        return node;
    }

    SimulatedNetwork.Endpoint process() {
        return process;
    }

    QueueBudget budget() {
        return budget;
    }

    void takesUpTo(long nanos) {
        longestTaking = nanos;
    }

    /** Fails to take over the message of this number. */
    void cannotTake(long number) {
        cannotTake = number;
    }

    /** Fails to take over messages of these numbers. */
    void refuses(LongPredicate numbers) {
        refused = numbers;
    }

    void refusesGroups() {
        refusesGroups = true;
    }

    /** A session that outlives its connection subscribes. */
    void subscribe(String filter) {
        subscribe(filter, true);
    }

    /** A session subscribes. */
    void subscribe(String filter, boolean durable) {
        (durable ? subscriptions : cleanSubscriptions).merge(filter, 1, Integer::sum);
        node.localChange(filter, 1, durable);
    }

    boolean unsubscribe(String filter) {
        return unsubscribe(filter, true);
    }

    /** One of the sessions of that kind unsubscribes; false if there is none. */
    boolean unsubscribe(String filter, boolean durable) {
        Map<String, Integer> all = durable ? subscriptions : cleanSubscriptions;
        if (!all.containsKey(filter)) {
            return false;
        }
        all.computeIfPresent(filter, (key, count) -> count == 1 ? null : count - 1);
        node.localChange(filter, -1, durable);
        return true;
    }

    /** What others should know of this node. */
    Map<String, Integer> expectedRows() {
        Map<String, Integer> rows = new TreeMap<>();
        cleanSubscriptions.forEach((filter, count) ->
                rows.put(filter, SharedFilter.isShared(filter) ? RouteRow.ofGroup(count, 0) : RouteRow.CLEAN));
        subscriptions.forEach((filter, count) -> {
            int members = count + cleanSubscriptions.getOrDefault(filter, 0);
            rows.put(filter, SharedFilter.isShared(filter) ? RouteRow.ofGroup(members, count) : RouteRow.DURABLE);
        });
        return rows;
    }

    /** What this node knows of another one. */
    Map<String, Integer> rowsOf(String other) {
        return new TreeMap<>(remote.getOrDefault(other, Map.of()));
    }

    /** How many members of a group it knows to be on another node. */
    int membersOf(String other, String group) {
        return new RouteRow(group, rowsOf(other).getOrDefault(group, 0)).members();
    }

    boolean reaches(String other) {
        return node.membership().reachable().stream()
                .anyMatch(member -> member.nodeId().equals(other));
    }

    PeerOutbox outboxTo(String other) {
        return outboxes.get(other);
    }

    /** Sends a message to all other nodes that want it; the publisher's client identifier is the node's. */
    int publish(String topic, long number, QoS qos, RouteTicket ticket) {
        return publish(topic, Long.toString(number), qos, ticket);
    }

    /** The same with a number that may have zeros before it, so that it is as long as wanted. */
    int publish(String topic, String number, QoS qos, RouteTicket ticket) {
        ApplicationMessage message = ApplicationMessage.builder(topic)
                .payload(number)
                .qos(qos)
                .build()
                .accepted(ids.next(), simulation.nanoTime(), nodeId);
        int count = 0;
        for (Map.Entry<String, Map<String, Integer>> other : remote.entrySet()) {
            Integer weight =
                    other.getValue().getOrDefault(topic, other.getValue().get("#"));
            if (weight != null) {
                boolean durable = weight == RouteRow.DURABLE;
                buffers.toAll(numberOf(other.getKey()), outboxes.get(other.getKey()), message, ticket, durable);
                count++;
            }
        }
        return count;
    }

    /** Sends a message to all subscribers of another node that want it, and to a member of a group there. */
    void publishToAllAndGroup(String group, String to, long number, QoS qos, RouteTicket ticket) {
        SharedFilter shared = SharedFilter.of(group);
        ApplicationMessage message = message(shared.filter().value(), number, qos);
        buffers.toAll(numberOf(to), outboxes.get(to), message, ticket, true);
        buffers.toGroup(numberOf(to), outboxes.get(to), message, ticket, shared);
    }

    private ApplicationMessage message(String topic, long number, QoS qos) {
        return ApplicationMessage.builder(topic)
                .payload(Long.toString(number))
                .qos(qos)
                .build()
                .accepted(ids.next(), simulation.nanoTime(), nodeId);
    }

    private int numberOf(String other) {
        if (!numbers.contains(other)) {
            numbers.add(other);
        }
        return numbers.indexOf(other);
    }

    /** Sends a message to one member of a group on another node. */
    void publishShared(String group, String to, long number, RouteTicket ticket) {
        publishShared(group, to, number, QoS.AT_LEAST_ONCE, ticket);
    }

    /** A client publishes for a member of a group on another node. */
    void publishShared(String group, String to, long number, QoS qos, RouteTicket ticket) {
        SharedFilter shared = SharedFilter.of(group);
        ApplicationMessage message = message(shared.filter().value(), number, qos);
        buffers.toGroup(numberOf(to), outboxes.get(to), message, ticket, shared);
    }

    private long wallClockMillis() {
        return 1_700_000_000_000L + simulation.nanoTime() / 1_000_000 + clockAheadMillis;
    }

    void clockIsAhead(long millis) {
        clockAheadMillis = millis;
    }

    /** Retains a message as a client of this node would; an empty text removes what is there. */
    void retain(String topic, String payload) {
        store(ApplicationMessage.builder(topic)
                .payload(payload)
                .retain(true)
                .build()
                .accepted(ids.next(), simulation.nanoTime(), nodeId));
    }

    /** The same for a publisher that waits. */
    void retain(String topic, String payload, RouteTicket ticket) {
        node.retained().expect();
        retain(topic, payload);
        new RetainedOfOthers(node, true).hold(ticket);
    }

    /** Retains a message for a while. */
    void retain(String topic, String payload, Duration expiry) {
        store(ApplicationMessage.builder(topic)
                .payload(payload)
                .retain(true)
                .expiryInterval(expiry)
                .build()
                .accepted(ids.next(), simulation.nanoTime(), nodeId));
    }

    /** What a node with a store finds again. */
    void recover(String topic, String payload) {
        tree.put(topic, payload);
        ApplicationMessage message =
                ApplicationMessage.builder(topic).payload(payload).retain(true).build();
        messages.put(topic, message);
        store.put(topic, new Stored(payload, null));
        node.execute(() -> node.retained().recovered(message, null));
    }

    /** A topic as a store has it. */
    record Stored(@Nullable String payload, @Nullable RetainedVersion version) {}

    /** What its store has: messages and removals with their versions, written a little later than the tree. */
    Map<String, Stored> store() {
        return store;
    }

    /** The last note in its store; null if there is none. */
    byte @Nullable [] note() {
        return note;
    }

    /** Starts with a store that another run has written. */
    void recover(Map<String, Stored> stored, byte @Nullable [] lastNote) {
        note = lastNote;
        store.putAll(stored);
        node.execute(() -> {
            if (lastNote != null) {
                node.retained().recoveredNote(lastNote);
            }
        });
        stored.forEach((topic, row) -> {
            if (row.payload() == null) {
                RetainedVersion removal = Objects.requireNonNull(row.version());
                node.execute(() -> node.retained().recoveredRemoval(topic, removal));
                return;
            }
            ApplicationMessage message = ApplicationMessage.builder(topic)
                    .payload(row.payload())
                    .retain(true)
                    .build();
            tree.put(topic, row.payload());
            messages.put(topic, message);
            node.execute(() -> node.retained().recovered(message, row.version()));
        });
    }

    /** Writes what is kept of a topic to the store, as it is then. */
    private void write(String topic) {
        long taking = (long) (simulation.random().nextDouble() * 3_000_000);
        loop.schedule(
                () -> {
                    ApplicationMessage current = messages.get(topic);
                    RetainedVersion version = node.retained().versionOf(topic, current);
                    if (current == null && version == null) {
                        store.remove(topic);
                    } else {
                        store.put(topic, new Stored(current == null ? null : tree.get(topic), version));
                    }
                },
                taking,
                TimeUnit.NANOSECONDS);
    }

    @Override
    public void rewriteRetained(String topic) {
        write(topic);
    }

    @Override
    public void noteRetained(byte[] content, List<String> topics) {
        note = content;
        topics.forEach(this::write);
    }

    private void store(ApplicationMessage message) {
        String topic = message.topic().value();
        if (message.payload().isEmpty()) {
            tree.remove(topic);
            messages.remove(topic);
        } else {
            tree.put(topic, message.payload().asString());
            messages.put(topic, message);
        }
        node.localRetained(message);
        write(topic);
    }

    /** How many nodes were forgotten. */
    int left() {
        return left;
    }

    /** What a new subscriber would get. */
    Map<String, String> tree() {
        return tree;
    }

    /** Its tree has room for so many messages of other nodes. */
    void retainsAtMost(int messages) {
        mostRetained = messages;
    }

    /** How many messages and removals of other nodes its tree was given. */
    int retainedFromElsewhere() {
        return retainedFromElsewhere;
    }

    /** From now on retaining is a mistake. */
    void failsToRetain() {
        failsToRetain = true;
    }

    int failures() {
        return failures;
    }

    @Override
    public void retain(ApplicationMessage message, Runnable refused) {
        if (failsToRetain) {
            failures++;
            throw new IllegalStateException("a mistake");
        }
        long taking = (long) (simulation.random().nextDouble() * 5_000_000);
        retainedFromElsewhere++;
        loop.schedule(
                () -> {
                    boolean isNew = !tree.containsKey(message.topic().value())
                            && !message.payload().isEmpty();
                    if ((isNew && tree.size() >= mostRetained)
                            || !node.retained().isLatest(message)) {
                        refused.run();
                    } else {
                        store(message);
                    }
                },
                taking,
                TimeUnit.NANOSECONDS);
    }

    List<Arrival> arrivals() {
        return arrivals;
    }

    /** The numbers of the messages that came for the adopted sessions of a node. */
    List<Long> arrivalsFor(String home) {
        return arrivalsFor.getOrDefault(home, List.of());
    }

    /** Those of them that were accepted. */
    List<Long> acceptedFor(String home) {
        return acceptedFor.getOrDefault(home, List.of());
    }

    int dropped(DropReason reason) {
        return drops.getOrDefault(reason, 0);
    }

    /** How many messages others have taken over. */
    int deliveries() {
        return deliveries;
    }

    void later(Runnable task) {
        loop.execute(task);
    }

    /** What the payloads of the messages have that others have taken over. */
    long deliveredBytes() {
        return deliveredBytes;
    }

    @Override
    public void messageDelivered(QoS qos, int payloadBytes) {
        deliveries++;
        deliveredBytes += payloadBytes;
    }

    @Override
    public void messageDropped(DropReason reason, int count) {
        drops.merge(reason, count, Integer::sum);
    }

    @Override
    public RemoteRoutes join(String other, PeerOutbox outbox) {
        outboxes.put(other, outbox);
        Map<String, Integer> rows = remote.computeIfAbsent(other, key -> new HashMap<>());
        return new RemoteRoutes() {
            @Override
            public void changed(RouteRow row) {
                if (row.isRemoval()) {
                    rows.remove(row.filter());
                } else {
                    rows.put(row.filter(), row.weight());
                }
            }

            @Override
            public void left() {
                left++;
            }
        };
    }

    @Override
    public void deliver(List<InboundMessage> messages) {
        for (InboundMessage inbound : messages) {
            ForwardedMessage forwarded = inbound.forwarded();
            ApplicationMessage message = forwarded.message();
            inbound.homes()
                    .forEach(home -> arrivalsFor
                            .computeIfAbsent(home, key -> new ArrayList<>())
                            .add(numberIn(message)));
            if (refusesGroups) {
                forwarded.groups().forEach(inbound::refused);
            }
            arrivals.add(new Arrival(
                    String.valueOf(message.publisherId()),
                    message.topic().value(),
                    numberIn(message),
                    message.qos(),
                    forwarded.toAll(),
                    refusesGroups ? List.of() : forwarded.groups(),
                    message.isRepeated()));
            long taking = (long) (simulation.random().nextDouble() * longestTaking);
            long number = numberIn(message);
            boolean taken = number != cannotTake && !refused.test(number);
            loop.schedule(() -> release(inbound, number, taken), taking, TimeUnit.NANOSECONDS);
        }
    }

    private void release(InboundMessage inbound, long number, boolean taken) {
        if (taken) {
            inbound.homes()
                    .forEach(home -> acceptedFor
                            .computeIfAbsent(home, key -> new ArrayList<>())
                            .add(number));
        }
        inbound.release(taken);
    }

    private static long numberIn(ApplicationMessage message) {
        return Long.parseLong(message.payload().asString());
    }

    /** Messages that are parked here for sessions that this node serves are taken later. */
    void holdsSentOn() {
        holdsSentOn = true;
    }

    /** It is taken now, or not. */
    void releaseSentOn(boolean taken) {
        holdsSentOn = false;
        List<Consumer<Boolean>> all = List.copyOf(heldSentOn);
        heldSentOn.clear();
        loop.execute(() -> all.forEach(done -> done.accept(taken)));
    }

    @Override
    public void sentOn(ApplicationMessage message, String homes, Consumer<Boolean> done) {
        if (holdsSentOn) {
            heldSentOn.add(done);
        } else {
            Homes.nodes(homes)
                    .forEach(home -> arrivalsFor
                            .computeIfAbsent(home, key -> new ArrayList<>())
                            .add(numberIn(message)));
            done.accept(true);
        }
    }

    @Override
    public void handOver(SharedFilter group, String nodeId) {
        // no message waits on a simulated node
    }

    @Override
    public boolean canTakeMore(SharedFilter group) {
        return false;
    }

    @Override
    public boolean holds(SharedFilter group) {
        return false;
    }

    @Override
    public void redispatch(OutboundMessage message, SharedFilter group) {
        requeued.add(group);
    }

    /** Groups of messages that other nodes had no room for, or were lost with. */
    List<SharedFilter> requeued() {
        return requeued;
    }
}
