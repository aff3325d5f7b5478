// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.Subscription;
import io.smqtt.spi.StoredMessage;
import io.smqtt.thread.OnEventLoop;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The transfer of a session from another node. A message that has come with the session may also be routed here, and is then
 * taken once.
 */
@OnEventLoop
abstract class IncomingTransfer extends SessionTransfer implements SessionArrival {

    /** The time within which messages in transit to this node arrive. */
    private static final long TRANSIT_SECONDS = 30;

    /** Deliveries that have come with the session and may also come here. */
    private final Set<Long> came = new HashSet<>();

    IncomingTransfer(String clientId) {
        super(clientId);
    }

    /** The subscription that applies to a delivery of another node. */
    static Subscription subscription(Session session, StoredMessage message) {
        return Subscription.ofDelivery(
                session, message.clientFilter(), message.qos(), message.retain(), message.identifiers());
    }

    /** Holds back messages that are routed here, and skips those that have come with the session. */
    final void holdBack(Session session) {
        holdBack(session, true);
        session.intake().cameElsewhere(came);
    }

    /** Registers a delivery that has come with the session. Returns false if it was registered before. */
    final boolean came(long deliveryId) {
        return came.add(deliveryId);
    }

    /** Forgets the registered deliveries, now or when messages in transit have arrived. */
    final void forgetCame(Session session, boolean now) {
        if (now) {
            session.intake().clearCameElsewhere(came);
        } else {
            Runnable forget = () -> session.execute(() -> session.intake().clearCameElsewhere(came));
            session.owner().executor().schedule(forget, TRANSIT_SECONDS, TimeUnit.SECONDS);
        }
    }
}
