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
import org.jspecify.annotations.Nullable;

/**
 * Keeps the packet identifiers of messages of QoS 2 that came from one address of a bridge, and await its PUBREL, apart from those of the other
 * addresses, whose sessions count for themselves. Our session has those of the address of the last connection; the others wait here, and in a
 * {@link BridgeNote}, which is written when the bridge connects to another address. At most 65,535 for each address, as bits.
 */
@AnyThread
final class ArrivedExchanges {

    private final OurSession here;
    private final OurSession anywhere;
    private final BridgeNote note;
    private final List<String> addresses;
    private final boolean comesIn;

    // guarded by this
    private final Map<String, BitSet> waiting = new HashMap<>();
    private final Set<String> anew = new HashSet<>(); // addresses with a new session that no connection has used yet
    private String owner = "";
    private long version;
    private boolean unsure;

    /** The session of the bridge at this broker. */
    interface OurSession {

        /** The session; null if it cannot be used now. */
        @Nullable
        Session find();
    }

    /**
     * Creates the state before the first connection.
     *
     * @param here finds the session while it is connected on the present event loop
     * @param anywhere finds the session, wherever it is
     * @param note keeps the identifiers
     * @param addresses the configured ones
     * @param topics those of the connection
     */
    ArrivedExchanges(
            OurSession here, OurSession anywhere, BridgeNote note, List<String> addresses, List<BridgeTopic> topics) {
        this.here = here;
        this.anywhere = anywhere;
        this.note = note;
        this.addresses = List.copyOf(addresses);
        this.comesIn = topics.stream().anyMatch(topic -> topic.in() && topic.qos() == 2);
    }

    /**
     * Our session is open for a connection to an address, and has not handled anything that came over it: from now on it has the identifiers of this
     * address.
     *
     * @param resumed whether the other broker has kept its session
     * @return false if messages of another address are not stored yet: this connection must not be used
     */
    @OnEventLoop
    boolean connected(String address, boolean resumed) {
        Session session = here.find();
        return !comesIn || session == null || connected(address, resumed, session.inbound());
    }

    private synchronized boolean connected(String address, boolean present, InboundFlow inbound) {
        load();
        boolean resumed = present && !anew.contains(address);
        if (owner.equals(address) || (owner.isEmpty() && addresses.size() == 1)) { // then nothing is noted
            forgetUnlessResumed(resumed, inbound);
            anew.remove(address);
            return true;
        }
        if (!inbound.isSettled()) {
            return false;
        }
        anew.remove(address);
        unsure = owner.isEmpty() && resumed && inbound.awaitingRelease() > 0;
        if (owner.isEmpty()) {
            forgetUnlessResumed(resumed, inbound);
        } else {
            exchange(address, resumed, inbound);
        }
        owner = address;
        waiting.keySet().retainAll(addresses);
        write();
        return true;
    }

    private static void forgetUnlessResumed(boolean resumed, InboundFlow inbound) {
        if (!resumed) {
            inbound.releaseAll(); // before a message comes that has such an identifier
        }
    }

    private void exchange(String address, boolean resumed, InboundFlow inbound) {
        BitSet left = new BitSet();
        Arrays.stream(inbound.identifiers()).forEach(left::set);
        inbound.releaseAll();
        if (left.isEmpty()) {
            waiting.remove(owner);
        } else {
            waiting.put(owner, left);
        }
        BitSet before = waiting.remove(address);
        if (before != null && resumed) {
            before.stream().forEach(inbound::restore);
        }
    }

    /**
     * The other broker has begun a session. That counts until a connection to this address is used, which this one need not be.
     *
     * @param address one of the configured ones
     */
    synchronized void begunAnew(String address) {
        anew.add(address);
    }

    /** Whether identifiers in our session may be those of another address: it is not known from where they came. */
    synchronized boolean isUnsure() {
        return unsure;
    }

    /** The session at an address is a new one: it gives packet identifiers of the former one to new messages [MQTT-3.2.2-5]. */
    @OnEventLoop
    void forget(String address) {
        if (belongsToAnother(address)) {
            return;
        }
        Session connected = here.find();
        Session session = anywhere.find();
        if (connected != null) {
            connected.inbound().releaseAll(); // before anything is sent that makes new messages come
        } else if (session != null) {
            session.execute(() -> session.inbound().releaseAll());
        }
    }

    /** Whether the identifiers of our session are those of another address; then those set aside for this one are removed. */
    private synchronized boolean belongsToAnother(String address) {
        load();
        if (owner.isEmpty() || owner.equals(address)) {
            return false;
        }
        if (waiting.remove(address) != null) {
            write();
        }
        return true;
    }

    /** Takes over the note of another node of the cluster, or of a former run of this one. */
    private void load() {
        List<String> words = note.read();
        long noted = words.size() < 2 ? 0 : number(words.get(0));
        if (noted <= version) {
            return;
        }
        version = noted;
        owner = words.get(1);
        waiting.clear();
        for (int i = 2; i + 1 < words.size(); i += 2) {
            waiting.put(words.get(i), BitSet.valueOf(Base64.getDecoder().decode(words.get(i + 1))));
        }
    }

    private static long number(String text) {
        return Long.parseUnsignedLong(text, 16);
    }

    private void write() {
        version++;
        List<String> words = new ArrayList<>();
        if (addresses.size() > 1) {
            words.add(Long.toHexString(version));
            words.add(owner);
            waiting.forEach((address, identifiers) -> {
                words.add(address);
                words.add(Base64.getEncoder().encodeToString(identifiers.toByteArray()));
            });
        } else {
            owner = "";
        }
        note.change(loop -> note.write(loop, words));
    }
}
