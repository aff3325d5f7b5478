// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscriber;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.DropReason;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.trace.RunningTraces;
import io.smqtt.trace.TraceDetails;
import io.smqtt.trace.TraceEvent;
import org.jspecify.annotations.Nullable;

/** Reports messages that wait, are acknowledged or dropped, to the traces. On the event loop of the subscriber. */
@OnEventLoop
public final class TracedQueue {

    private TracedQueue() {}

    /** Reports a message that does not reach its subscriber. */
    static void dropped(ApplicationMessage message, Subscription subscription, DropReason reason) {
        dropped(subscription.subscriber(), message, reason);
    }

    /** Reports a message that does not reach a subscriber. */
    static void dropped(Subscriber subscriber, ApplicationMessage message, DropReason reason) {
        RunningTraces traces = traces(subscriber);
        if (traces != null) {
            traces.dropped(subscriber.id(), subscriber.client(), message, reason);
        }
    }

    /** Reports a message that waits for its subscriber. */
    static void queued(ApplicationMessage message, Subscription subscription, QoS qos) {
        Subscriber subscriber = subscription.subscriber();
        RunningTraces traces = traces(subscriber);
        if (traces != null) {
            traces.report(
                    TraceEvent.Kind.QUEUED,
                    subscriber.id(),
                    subscriber.client(),
                    message,
                    new TraceDetails().with("qos", qos.level()).with("publisher", message.publisherId()));
        }
    }

    /**
     * Reports the message that a PUBACK or PUBREC acknowledges, if there is one. Called before the session processes the packet.
     *
     * @param session the session of the client
     * @param packetId the packet identifier
     * @param qos 1 for a PUBACK, 2 for a PUBREC
     */
    public static void acknowledged(Session session, int packetId, QoS qos) {
        RunningTraces traces = traces(session);
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

    private static @Nullable RunningTraces traces(Subscriber subscriber) {
        RoutingLoop loop = subscriber.owner();
        return loop == null ? null : loop.traces();
    }
}
