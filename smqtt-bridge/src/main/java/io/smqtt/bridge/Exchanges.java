// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.session.DeliveryPause;
import io.smqtt.session.Session;
import io.smqtt.thread.OnEventLoop;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the packet identifiers of QoS 2 of one address apart from those of another. Our session is one for all addresses, and the session at each of them
 * may still have an identifier whose exchange was ended at another one: a new message with it would be taken for a repetition [MQTT-4.3.3-10]. So such an
 * identifier is released first. What comes in is kept apart by {@link ArrivedExchanges}. Of one connection, of a bridge with several addresses.
 */
@OnEventLoop
final class Exchanges {

    /** In place of a message: its identifier was released, and the PUBCOMP has not come. So it is released again, at this address too. */
    private static final long RELEASED = Long.MIN_VALUE;

    /** In place of a message that our session does not have. Not {@link ApplicationMessage#NO_ID}, which messages can have. */
    private static final long NONE = Long.MIN_VALUE + 1;

    private static final int FIRST_ROOM = 64;

    private final OpenExchanges all;
    private final String address;
    private final Supplier<@Nullable Session> ours;

    /** Identifiers of messages that were sent to the other broker, without the end of the exchange there. */
    private final BitSet open = new BitSet();

    /** Messages by packet identifier, as {@link ApplicationMessage#id()}; at most 512 KiB. */
    private long[] messages = new long[FIRST_ROOM];

    /** Identifiers that were released here: the PUBCOMP is not for our session. */
    private final BitSet released = new BitSet();

    private @Nullable DeliveryPause session; // once it is open

    /**
     * Creates the state of one connection.
     *
     * @param all what is open at each address
     * @param ours finds the session while it is connected on the present event loop
     */
    Exchanges(OpenExchanges all, String address, Supplier<@Nullable Session> ours) {
        this.all = all;
        this.address = address;
        this.ours = ours;
    }

    /**
     * Our session is open, and sends nothing before this returns.
     *
     * @param resumed whether the other broker has kept its session
     * @param passed takes a PUBREL for each identifier there that our session does not use for the same message any more
     */
    void begin(boolean resumed, ByteBuf passed) {
        Session found = ours.get();
        if (found == null) {
            return; // another connection has it, so nothing is sent over this one
        }
        DeliveryPause now = new DeliveryPause(found);
        session = now;
        boolean another = all.connected(address);
        Map<Integer, Long> before = all.take(address);
        if (!resumed) {
            return;
        }
        before.forEach((id, message) -> {
            if (message == RELEASED || (another && idOf(now, id) != message)) {
                released.set(id);
                Packets.acknowledge(passed, Packets.PUBREL, id, 0);
            } else {
                note(id, message);
            }
        });
    }

    /** The message that our session has sent with a packet identifier; {@link #NONE} if there is none. */
    private static long idOf(@Nullable DeliveryPause session, int id) {
        ApplicationMessage message = session == null ? null : session.inFlight(id);
        return message == null ? NONE : message.id();
    }

    private void note(int id, long message) {
        if (id >= messages.length) {
            messages = Arrays.copyOf(messages, Integer.highestOneBit(id) << 1);
        }
        messages[id] = message;
        open.set(id);
    }

    /** Packet identifiers that no message of the session has, nor a PUBREL that is not answered; fewer if there are not so many. */
    int[] spareIdentifiers(int count, IntFunction<int[]> ofSession) {
        int[] more = ofSession.apply(count + released.cardinality());
        return Arrays.stream(more).filter(id -> !released.get(id)).limit(count).toArray();
    }

    /** A message of QoS 2 is passed on to the other broker. It is noted now: at the end of the connection our session may be another one. */
    void sent(int id) {
        note(id, idOf(session, id));
    }

    /** The other broker has refused a message, which ends the exchange. */
    void refused(int id) {
        open.clear(id);
    }

    /** A PUBCOMP of the other broker. Returns whether our session waits for it. */
    boolean completed(int id) {
        if (released.get(id)) {
            released.clear(id); // our session may have sent a new message with this identifier behind the PUBREL
            return false;
        }
        open.clear(id);
        return true;
    }

    /** The connection ends. */
    void end() {
        if (session == null) {
            return;
        }
        Map<Integer, Long> left = new HashMap<>();
        open.stream().forEach(id -> left.put(id, messages[id]));
        released.stream()
                .forEach(id ->
                        left.put(id, RELEASED)); // also if a message was sent behind it, which may then come twice
        all.keep(address, left);
    }
}
