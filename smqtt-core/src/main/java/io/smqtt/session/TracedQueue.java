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

/** Reports messages that wait or are dropped to the traces. On the event loop of the subscriber. */
@OnEventLoop
final class TracedQueue {

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

    /** The traces of a subscriber's event loop, or null. */
    static @Nullable RunningTraces traces(Subscriber subscriber) {
        RoutingLoop loop = subscriber.owner();
        return loop == null ? null : loop.traces();
    }
}
