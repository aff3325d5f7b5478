// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.MessageIds;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.message.Will;
import io.smqtt.session.SessionArrival;
import io.smqtt.session.SessionDeparture;
import io.smqtt.session.SessionState;
import io.smqtt.session.UnservedStores;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The sessions of a simulated node: each remembers the nodes that it has been on, as its messages. */
final class SimulatedClients implements LocalClients {

    private final Executor loop;
    private final Map<String, Held> sessions = new TreeMap<>();
    private final List<String> published = new ArrayList<>();
    private final List<String> settled = new ArrayList<>();
    private boolean somethingComes;
    private boolean full;
    private int given;
    private final List<StoredMessage> alsoElsewhere = new ArrayList<>();
    private int stayed;
    private boolean nodeAway;
    private boolean mayMove = true;
    private boolean awaited;
    private UnservedStores unserved = UnservedStores.NONE;

    /** A session. */
    static final class Held {
        private List<StoredMessage> messages = new ArrayList<>();
        private long clock;
        private boolean connected;
        private long cleanClock;
        private boolean leaving;
        private final List<StoredMessage> late = new ArrayList<>();

        List<StoredMessage> messages() {
            return messages;
        }

        /** What a broker does with a message that matches. */
        void take(StoredMessage message) {
            (leaving ? late : messages).add(message);
        }

        boolean isConnected() {
            return connected;
        }
    }

    @Override
    public @Nullable String exclusiveHolder(String filter) {
        return null;
    }

    SimulatedClients(Executor loop) {
        this.loop = loop;
    }

    /** A client of a simulated broker. */
    static ClientIdentity identity(String clientId) {
        return new ClientIdentity(
                clientId, null, InetSocketAddress.createUnresolved("client", 1), "", ProtocolVersion.MQTT_5, Set.of());
    }

    /** A message as sessions hold it. */
    static StoredMessage message(String text) {
        ApplicationMessage message = ApplicationMessage.builder("t")
                .payload(text)
                .qos(QoS.AT_LEAST_ONCE)
                .build()
                .accepted(new MessageIds().next(), 0, "p");
        return new StoredMessage(1, message, "t", QoS.AT_LEAST_ONCE, false, new int[0], StoredDelivery.WAITING);
    }

    Map<String, Held> sessions() {
        return sessions;
    }

    /** From now on whatever leaves always has one more message. */
    void somethingComesAllTheTime() {
        somethingComes = true;
    }

    /** From now on no session may arrive. */
    void isFull() {
        full = true;
    }

    /** How many messages that came meanwhile were given away. */
    int given() {
        return given;
    }

    /** What came when the new place of its session was known everywhere: it has come there, too. */
    List<StoredMessage> alsoElsewhere() {
        return alsoElsewhere;
    }

    /** Whether sessions of a failed node are about to be served, by this node or another one. */
    void awaited(boolean value) {
        awaited = value;
    }

    @Override
    public boolean isAwaited(Collection<String> nodes) {
        return awaited;
    }

    /** The lookup of sessions in stores that no node serves. */
    void unserved(UnservedStores stores) {
        unserved = stores;
    }

    @Override
    public UnservedStores unserved() {
        return unserved;
    }

    @Override
    public boolean isStored(String clientId) {
        return sessions.containsKey(clientId);
    }

    /** How often a session that was to leave stayed. */
    int stayed() {
        return stayed;
    }

    /** What a broker does when a claim was granted. */
    Held open(String clientId) {
        Held held = sessions.computeIfAbsent(clientId, id -> new Held());
        held.connected = true;
        return held;
    }

    /** Whether sessions may move from now on, because their store is this node's own, or settled. */
    void mayMove(boolean value) {
        mayMove = value;
    }

    @Override
    public boolean mayMove(String clientId) {
        return mayMove;
    }

    /** Whether a node is away, as the node said last. */
    boolean isNodeAway() {
        return nodeAway;
    }

    @Override
    public void nodeAway(boolean away) {
        nodeAway = away;
    }

    @Override
    public long clockOf(String clientId) {
        Held held = sessions.get(clientId);
        return held == null ? NONE : held.clock;
    }

    @Override
    public void claimed(String clientId, long clock) {
        Held held = sessions.get(clientId);
        if (held != null) {
            held.clock = clock;
        }
    }

    @Override
    public void depart(String clientId, boolean discard, @Nullable String userName, SessionDeparture.Reply reply) {
        Held held = sessions.get(clientId);
        if (held == null || discard) {
            sessions.remove(clientId);
            loop.execute(reply::gone);
            return;
        }
        held.leaving = true;
        loop.execute(() -> reply.departing(new Departure(clientId, held)));
    }

    @Override
    public void bequeath(String clientId, SessionDeparture.Reply reply) {
        depart(clientId, false, null, reply);
    }

    @Override
    public void absent(String clientId, Consumer<@Nullable Absent> reply) {
        Absent found = sessions.containsKey(clientId) ? new Absent(null, null) : null;
        loop.execute(() -> reply.accept(found));
    }

    @Override
    public void inheritWill(String clientId, Frame.HeldWill will) {
        throw new AssertionError("no session here has a will");
    }

    @Override
    public SessionArrival arrive(SessionState state) {
        Held held = new Held();
        held.clock = state.claimClock();
        held.cleanClock = state.cleanClock();
        return new Arrival(state.clientId(), held, true);
    }

    @Override
    public SessionArrival merge(SessionState state) {
        Held here = sessions.get(state.clientId());
        if (here == null || state.cleanClock() > here.clock) {
            return arrive(state);
        }
        return new Arrival(state.clientId(), here.cleanClock > state.claimClock() ? new Held() : here, false);
    }

    boolean isLeaving(String clientId) {
        Held held = sessions.get(clientId);
        return held != null && held.leaving;
    }

    /** The session that takes what matches; null if there is none. */
    @Nullable
    Held taking(String clientId) {
        Held held = sessions.get(clientId);
        return held == null || !held.connected ? null : held;
    }

    @Override
    public void publishWill(String clientId, @Nullable String userName, Will will) {
        published.add(will.message().payload().asString());
    }

    @Override
    public void willSettledElsewhere(String clientId, @Nullable Will will) {
        settled.add(clientId);
    }

    /** Wills of clients of other nodes that were published here. */
    List<String> published() {
        return published;
    }

    /** Clients of this node whose wills others have seen to. */
    List<String> settled() {
        return settled;
    }

    @Override
    public Iterator<String> clientIds() {
        return List.copyOf(sessions.keySet()).iterator();
    }

    private final class Departure implements SessionDeparture {

        private final String clientId;
        private final Held held;
        private List<StoredMessage> inHand = List.of();
        private int at;

        Departure(String clientId, Held held) {
            this.clientId = clientId;
            this.held = held;
        }

        @Override
        public SessionState state() {
            return new SessionState(clientId, null, 1_000, held.clock, held.cleanClock, List.of(), List.of());
        }

        @Override
        public void next(Consumer<StoredPage> reply) {
            List<StoredMessage> page = held.messages.subList(at, Math.min(held.messages.size(), at + 2));
            at += page.size();
            StoredPage answer = new StoredPage(page, null);
            loop.execute(() -> reply.accept(answer));
        }

        @Override
        public void late(Consumer<List<StoredMessage>> reply) {
            List<StoredMessage> next = somethingComes ? List.of(message("late")) : List.of();
            if (inHand.isEmpty()) {
                inHand = List.copyOf(held.late);
                held.late.clear();
            }
            List<StoredMessage> part = inHand.isEmpty() ? next : inHand;
            loop.execute(() -> reply.accept(part));
        }

        @Override
        public void taken() {
            if (inHand.isEmpty() && !somethingComes) {
                throw new AssertionError("there was nothing");
            }
            given++;
            held.messages.addAll(inHand); // should it stay
            inHand = List.of();
        }

        @Override
        public void leave(Runnable done) {
            sessions.remove(clientId, held);
            alsoElsewhere.addAll(held.late);
            loop.execute(done);
        }

        @Override
        public void stay() {
            stayed++; // it is still there
            held.leaving = false;
            held.messages.addAll(inHand);
            held.messages.addAll(held.late);
            held.late.clear();
        }
    }

    private final class Arrival implements SessionArrival {

        private final String clientId;
        private final Held held;
        private final boolean replaces;
        private boolean there;

        Arrival(String clientId, Held held, boolean replaces) {
            this.clientId = clientId;
            this.held = held;
            this.replaces = replaces;
            this.there = sessions.get(clientId) == held;
        }

        @Override
        public void add(List<StoredMessage> messages, Consumer<Boolean> done) {
            if (there && sessions.get(clientId) != held) {
                loop.execute(() -> done.accept(false));
                return;
            }
            for (StoredMessage message : messages) {
                boolean known = held.messages.stream()
                        .anyMatch(present -> present.message().id() != ApplicationMessage.NO_ID
                                && present.message().id() == message.message().id());
                if (!known) {
                    held.messages.add(message);
                }
            }
            loop.execute(() -> done.accept(true));
        }

        @Override
        public void install(Consumer<Boolean> done) {
            if (full) {
                loop.execute(() -> done.accept(false));
                return;
            }
            if (replaces) {
                sessions.put(clientId, held);
                there = true;
            }
            loop.execute(() -> done.accept(true));
        }

        @Override
        public void late(List<StoredMessage> messages, Consumer<Boolean> done) {
            add(messages, done);
        }

        @Override
        public void finish(Runnable done) {
            loop.execute(done);
        }

        @Override
        public void discard() {
            if (replaces) {
                held.messages = new ArrayList<>();
            }
        }
    }
}
