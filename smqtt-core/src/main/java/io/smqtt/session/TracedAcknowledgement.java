// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.trace.RunningTraces;
import io.smqtt.trace.TraceDetails;
import io.smqtt.trace.TraceEvent;

/** Reports messages that their subscriber has acknowledged to the traces. On the event loop of the subscriber. */
@OnEventLoop
public final class TracedAcknowledgement {

    private TracedAcknowledgement() {}

    /**
     * Reports the message that a PUBACK or PUBREC acknowledges, if there is one. Called before the session processes the packet.
     *
     * @param session the session of the client
     * @param packetId the packet identifier
     * @param qos 1 for a PUBACK, 2 for a PUBREC
     */
    public static void report(Session session, int packetId, QoS qos) {
        RunningTraces traces = TracedQueue.traces(session);
        OutboundFlow outbound = session.outboundOrNull();
        ApplicationMessage message = outbound == null ? null : outbound.window().awaiting(packetId, qos);
        if (traces != null && message != null) {
            traces.report(
                    TraceEvent.Kind.ACKNOWLEDGED,
                    session.id(),
                    session.client(),
                    message,
                    new TraceDetails().with("qos", qos.level()).with("publisher", message.publisherId()));
        }
    }
}
