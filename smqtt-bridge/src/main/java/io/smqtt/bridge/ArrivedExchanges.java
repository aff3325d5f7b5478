// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.config.BridgeTopic;
import io.smqtt.session.InboundFlow;
import io.smqtt.session.Session;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the packet identifiers of messages of QoS 2 that came from one address of a bridge, and await its PUBREL, apart from those of the other
 * addresses, whose sessions count for themselves. Our session has those of its owner, the address of the last connection; the others wait here, and in
 * a {@link BridgeNote}. At most 65,535 for each address, as bits.
 *
 * <p>When the bridge connects to another address, three things are stored one after the other, and nothing that comes over the connection is handled
 * before the last one is: (1) the note has the identifiers of all addresses, and our session is of none; (2) our session gets those of the new address;
 * (3) the note says that our session is of this address. So a crash at any moment leaves each identifier with its address. Without any identifier the
 * last step suffices.
 */
@AnyThread
final class ArrivedExchanges {

    /** In place of an owner: our session may have identifiers of any address, and the note has all of them. No address is written so. */
    private static final String CHANGING = "-";

    private final Supplier<@Nullable Session> here;
    private final BridgeNote note;
    private final List<String> addresses;
    private final boolean comesIn;
    private final boolean moves;

    // guarded by this
    private final Map<String, BitSet> waiting = new HashMap<>();
    private final Set<String> anew = new HashSet<>(); // addresses with a new session that no connection has used yet
    private final Set<String> unsure = new HashSet<>(); // addresses whose identifiers may be those of another one
    private String owner = "";
    private boolean noted; // this owner is stored
    private boolean served; // our session, by this process
    private long version;
    private long turn; // of connections: what one has begun ends with it

    /** How far a connection is. */
    enum Entry {
        /** Its packets can be handled. */
        READY,
        /** No packet of it must be handled before a change is stored. */
        STORING,
        /** Messages of another address are not stored yet: it must not be used. */
        REFUSED
    }

    /**
     * Creates the state before the first connection.
     *
     * @param here finds our session while it is connected on the present event loop
     * @param note keeps the identifiers
     * @param addresses the configured ones
     * @param topics those of the connection
     * @param moves whether another node of the cluster can take the bridge over: when sessions meet, one has the identifiers of both
     */
    ArrivedExchanges(
            Supplier<@Nullable Session> here,
            BridgeNote note,
            List<String> addresses,
            List<BridgeTopic> topics,
            boolean moves) {
        this.here = here;
        this.note = note;
        this.addresses = List.copyOf(addresses);
        this.comesIn = topics.stream().anyMatch(topic -> topic.in() && topic.qos() == 2);
        this.moves = moves;
    }

    /**
     * Our session is open for a connection to an address, and has not handled anything that came over it: from now on it has the identifiers of this
     * address.
     *
     * @param present whether the other broker has kept its session
     * @param stored receives after {@link Entry#STORING}, on the same event loop, whether it is stored; not if our session leaves the connection before
     */
    @OnEventLoop
    Entry connected(String address, boolean present, Consumer<Boolean> stored) {
        Session session = here.get();
        return session == null // another connection has it, so nothing is handled
                ? Entry.READY
                : connected(address, present, session, stored);
    }

    private synchronized Entry connected(String address, boolean present, Session session, Consumer<Boolean> stored) {
        load();
        turn++;
        InboundFlow inbound = session.inbound();
        boolean resumed = present && !anew.contains(address);
        boolean mine = owner.equals(address) || (owner.isEmpty() && addresses.size() == 1);
        boolean exchanges = !mine && !owner.isEmpty() && (inbound.awaitingRelease() > 0 || !waiting.isEmpty());
        if (!mine && !inbound.isSettled()) {
            return Entry.REFUSED;
        }
        doubt(address, mine, inbound);
        anew.remove(address);
        served = true;
        if (!resumed) {
            unsure.remove(address);
        }
        Change change = new Change(address, session, stored);
        if (exchanges) {
            setAside(address, resumed, inbound);
            change.begin();
            return Entry.STORING;
        }
        if (!resumed) {
            inbound.releaseAll(); // before a message comes that has such an identifier
        }
        boolean unused = owner.isEmpty() && !comesIn && inbound.awaitingRelease() == 0;
        if (unused || (noted && mine)) {
            return Entry.READY;
        }
        change.own();
        return Entry.STORING;
    }

    /** Identifiers of an earlier version, of another client identifier, or of a process that was here before another node, may be of any address. */
    private void doubt(String address, boolean mine, InboundFlow inbound) {
        boolean unknown = owner.isEmpty() ? !mine : moves && !served && !owner.equals(CHANGING);
        if (unknown && inbound.awaitingRelease() > 0) {
            unsure.add(owner.isEmpty() ? address : owner);
        }
    }

    /** The identifiers in our session are not those of the address. */
    private void setAside(String address, boolean resumed, InboundFlow inbound) {
        if (!owner.equals(CHANGING)) {
            BitSet left = new BitSet();
            Arrays.stream(inbound.identifiers()).forEach(left::set);
            if (left.isEmpty()) {
                waiting.remove(owner);
            } else {
                waiting.put(owner, left);
            }
            owner = CHANGING;
        }
        if (!resumed) {
            waiting.remove(address);
        }
        noted = false;
    }

    /** The writes for one connection, one after the other. */
    private final class Change {

        private final String address;
        private final Session session;
        private final Consumer<Boolean> stored;
        private final long begun = turn;

        Change(String address, Session session, Consumer<Boolean> stored) {
            this.address = address;
            this.session = session;
            this.stored = stored;
        }

        void begin() {
            write(kept -> next(kept, this::replace));
        }

        private boolean replace() {
            InboundFlow inbound = session.inbound();
            inbound.releaseAll();
            BitSet before = waiting.get(address);
            if (before != null) {
                before.stream().forEach(inbound::restore);
            }
            session.afterCommit(kept -> next(kept, this::own));
            return false;
        }

        private boolean own() {
            owner = address;
            noted = false;
            waiting.remove(address);
            waiting.keySet().retainAll(addresses);
            unsure.retainAll(addresses);
            write(kept -> next(kept, this::end));
            return false;
        }

        private boolean end() {
            noted = true;
            return true;
        }

        /** Takes the next step on the event loop of the session, unless it has left the connection; true after the last one. */
        private void next(boolean kept, BooleanSupplier step) {
            session.execute(() -> {
                boolean over;
                synchronized (ArrivedExchanges.this) {
                    if (turn != begun || here.get() != session) {
                        return;
                    }
                    over = !kept || step.getAsBoolean();
                }
                if (over) {
                    stored.accept(kept);
                }
            });
        }
    }

    /**
     * The other broker has begun a session: it gives packet identifiers of the former one to new messages [MQTT-3.2.2-5]. That counts until a
     * connection to this address is used, which this one need not be.
     *
     * @param address one of the configured ones
     */
    synchronized void begunAnew(String address) {
        anew.add(address);
    }

    /** Whether identifiers in our session, which is connected to an address, may be those of another one. */
    synchronized boolean isUnsure(String address) {
        return unsure.contains(address);
    }

    /** Takes over the note of another node of the cluster, or of a former run of this one. */
    private void load() {
        List<String> words = note.read();
        long last = words.size() < 2 ? 0 : Long.parseUnsignedLong(words.get(0), 16);
        if (last <= version) {
            return;
        }
        version = last;
        owner = words.get(1);
        noted = true;
        waiting.clear();
        for (int i = 2; i + 1 < words.size(); i += 2) {
            waiting.put(words.get(i), BitSet.valueOf(Base64.getDecoder().decode(words.get(i + 1))));
        }
    }

    private void write(Consumer<Boolean> then) {
        version++;
        List<String> words = new ArrayList<>();
        words.add(Long.toHexString(version));
        words.add(owner);
        waiting.forEach((address, identifiers) -> {
            words.add(address);
            words.add(Base64.getEncoder().encodeToString(identifiers.toByteArray()));
        });
        note.store(words, then);
    }
}
