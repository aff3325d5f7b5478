// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.List;

/** What a session has for its client, for operators. To be used on the session's event loop. */
@OnEventLoop
public final class SessionContents {

    private final Session session;

    /**
     * Creates a view.
     *
     * @param session the session
     */
    public SessionContents(Session session) {
        this.session = session;
    }

    /**
     * The number of messages that the client has not been sent: those in the queue, and those that were taken from it and wait for a commit, or for
     * the end of a {@link DeliveryPause}.
     *
     * @return messages, exact on the session's event loop
     */
    @AnyThread
    public int waiting() {
        OutboundFlow flow = session.outboundOrNull();
        return flow == null ? session.queuedCount() : flow.pendingCount();
    }

    /**
     * The number of messages that were dropped for this client before they were sent: the queue was full, they have expired, access rules
     * did not allow them, or the store could not take them.
     *
     * @return messages since the session began on this node, exact on the session's event loop
     */
    @AnyThread
    public long dropped() {
        OutboundFlow flow = session.outboundOrNull();
        return flow == null ? 0 : flow.droppedCount();
    }

    /**
     * Lists the oldest messages in the queue, as far as they are in memory: of a stored session whose client is absent none.
     *
     * @param most the maximum number of messages
     * @return the messages in order
     */
    public List<WaitingMessage> queued(int most) {
        OutboundFlow flow = session.outboundOrNull();
        return flow == null ? List.of() : flow.waiting(most);
    }

    /**
     * Lists the oldest messages in flight.
     *
     * @param most the maximum number of messages
     * @return the messages in order
     */
    public List<WaitingMessage> inFlight(int most) {
        OutboundFlow flow = session.outboundOrNull();
        return flow == null ? List.of() : flow.inFlight(most);
    }

    /**
     * Finds packet identifiers that no message in flight has, for requests that a client in this process sends on the same connection. Messages
     * in flight that have not been loaded from the store yet are not known.
     *
     * @param count the number of identifiers
     * @return identifiers, those first that the next messages get last; fewer if so many messages are in flight
     */
    public int[] spareIdentifiers(int count) {
        return session.outbound().spareIdentifiers(count);
    }
}
