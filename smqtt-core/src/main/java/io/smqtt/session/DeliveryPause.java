// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/**
 * A pause in the deliveries of a connected session, for a client in this process whose peer refuses messages for the time being. New messages
 * above QoS 0 wait in the queue, within its limits; those in flight stay there until they are sent again or acknowledged. The pause ends with
 * the connection, after which messages in flight are sent again anyway. To be used on the session's event loop.
 */
@OnEventLoop
public final class DeliveryPause {

    private final OutboundFlow flow;

    /**
     * Creates the means of pausing; nothing is paused yet.
     *
     * @param session a session with a connection
     */
    public DeliveryPause(Session session) {
        this.flow = session.outbound();
    }

    /** Sends no message above QoS 0 from now on. Acknowledgements are processed as ever. */
    public void begin() {
        flow.window().beginPause();
    }

    /**
     * A message that the peer has not taken yet.
     *
     * @param packetId a packet identifier
     * @return the message with this identifier, which awaits a PUBACK or a PUBREC; null if there is none
     */
    public @Nullable ApplicationMessage inFlight(int packetId) {
        SendWindow window = flow.window();
        ApplicationMessage once = window.awaiting(packetId, QoS.AT_LEAST_ONCE);
        return once != null ? once : window.awaiting(packetId, QoS.EXACTLY_ONCE);
    }

    /**
     * The peer has refused a message for the time being. For the peer the exchange has ended, so the message was not handed over: its Message
     * Expiry Interval applies again until it is sent anew, at QoS 2 too. In memory: after a restart of the broker the message counts as sent.
     *
     * @param packetId the identifier of a message in flight
     */
    public void refused(int packetId) {
        flow.window().refused(packetId);
    }

    /**
     * Sends a message in flight again, as a duplicate with its identifier. It is dropped instead if it has expired in the meantime.
     *
     * @param packetId the identifier of a message that the peer has refused
     * @return false if the message is not in flight any more, or was dropped
     */
    public boolean repeat(int packetId) {
        return flow.window().repeat(packetId);
    }

    /** Continues with the messages that wait. */
    public void end() {
        flow.window().endPause();
        flow.pump();
    }
}
