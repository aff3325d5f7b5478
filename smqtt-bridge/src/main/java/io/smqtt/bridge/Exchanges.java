// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.session.DeliveryPause;
import io.smqtt.session.Session;
import io.smqtt.thread.OnEventLoop;
import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the packet identifiers of QoS 2 of one address apart from those of another. Our session is one for all addresses, and the session at each of them
 * may still have an identifier whose exchange was ended at another one: a new message with it would be taken for a repetition [MQTT-4.3.3-10]. So such an
 * identifier is released first. Of one connection, of a bridge with several addresses.
 */
@OnEventLoop
final class Exchanges {

    /** In place of a message: its identifier was released, and the PUBCOMP has not come. So it is released again, at this address too. */
    private static final WeakReference<ApplicationMessage> RELEASED = new WeakReference<>(null);

    private final OpenExchanges all;
    private final String address;
    private final OurSession ours;

    /** Identifiers of messages that were sent to the other broker, without the end of the exchange there. */
    private final BitSet open = new BitSet();

    /** Identifiers that were released here: the PUBCOMP is not for our session. */
    private final BitSet released = new BitSet();

    /** Identifiers of messages that came over this connection. */
    private final BitSet came = new BitSet();

    private boolean another;
    private boolean begun;

    /** The session of the bridge at this broker. */
    interface OurSession {

        /** The session; null if it is not connected on this event loop. */
        @Nullable
        Session find();
    }

    /**
     * Creates the state of one connection.
     *
     * @param all what is open at each address
     */
    Exchanges(OpenExchanges all, String address, OurSession ours) {
        this.all = all;
        this.address = address;
        this.ours = ours;
    }

    private @Nullable DeliveryPause pause() {
        Session session = ours.find();
        return session == null ? null : new DeliveryPause(session);
    }

    /**
     * Our session is open, and sends nothing before this returns.
     *
     * @param resumed whether the other broker has kept its session
     * @param passed takes a PUBREL for each identifier there that our session does not use for the same message any more
     */
    void begin(boolean resumed, ByteBuf passed) {
        begun = true;
        another = all.connected(address);
        Map<Integer, WeakReference<ApplicationMessage>> before = all.take(address);
        DeliveryPause session = pause();
        if (!resumed || session == null) {
            return;
        }
        before.forEach((id, message) -> {
            ApplicationMessage now = onHeap(session, id);
            if (message == RELEASED || (another && (now == null || !message.refersTo(now)))) {
                released.set(id);
                Packets.acknowledge(passed, Packets.PUBREL, id, 0);
            } else {
                open.set(id);
            }
        });
    }

    private static @Nullable ApplicationMessage onHeap(@Nullable DeliveryPause session, int id) {
        ApplicationMessage message = session == null ? null : session.inFlight(id);
        return message == null ? null : message.onHeap();
    }

    /** Packet identifiers that no message of the session has, nor a PUBREL that is not answered; fewer if there are not so many. */
    int[] spareIdentifiers(int count, IntFunction<int[]> ofSession) {
        int[] more = ofSession.apply(count + released.cardinality());
        return Arrays.stream(more).filter(id -> !released.get(id)).limit(count).toArray();
    }

    /** A message of QoS 2 is passed on to the other broker. */
    void sent(int id) {
        open.set(id);
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

    /** A message of QoS 2 of the other broker. If it is no repetition, one of another address with its identifier has ended. */
    void arrived(int id, boolean repeated) {
        if (another && !repeated && !came.get(id)) {
            release(id);
        }
        came.set(id);
    }

    private void release(int id) {
        Session session = ours.find();
        if (session != null && session.inbound().isAwaitingRelease(id)) {
            session.inbound().release(id, false, false, () -> {});
        }
    }

    /** The connection ends; our session is still open. */
    void end() {
        if (!begun) {
            return;
        }
        DeliveryPause session = pause();
        Map<Integer, WeakReference<ApplicationMessage>> left = new HashMap<>();
        open.stream().forEach(id -> left.put(id, new WeakReference<>(onHeap(session, id))));
        released.stream().forEach(id -> left.put(id, RELEASED));
        all.keep(address, left);
    }
}
