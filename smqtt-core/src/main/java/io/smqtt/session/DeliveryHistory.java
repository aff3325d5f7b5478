// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscription;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/** The messages that all sessions of a node have taken lately. Recorded from {@link #begin} on: on nodes of a cluster only. */
@AnyThread
final class DeliveryHistory {

    private volatile TakenMessages @Nullable [] byLoop;

    /** Starts to record. */
    void begin(int loops) {
        TakenMessages[] all = new TakenMessages[loops];
        for (int i = 0; i < all.length; i++) {
            all[i] = new TakenMessages();
        }
        byLoop = all;
    }

    /** Records a message that a session takes on its event loop. */
    @OnEventLoop
    void took(RoutingLoop loop, long sessionKey, ApplicationMessage message, Subscription subscription) {
        TakenMessages[] all = byLoop;
        if (all != null && message.qos() != QoS.AT_MOST_ONCE) {
            all[loop.index()].took(sessionKey, TakenMessages.idOf(message, subscription));
        }
    }

    /** Records a delivery that has come with a session from another node. */
    @OnEventLoop
    void took(RoutingLoop loop, long sessionKey, long deliveryId) {
        TakenMessages[] all = byLoop;
        if (all != null) {
            all[loop.index()].took(sessionKey, deliveryId);
        }
    }

    /** Whether a session is known to have taken a delivery; see {@link TakenMessages#idOf}. */
    boolean knows(long sessionKey, long deliveryId) {
        TakenMessages[] all = byLoop;
        if (all != null) {
            for (TakenMessages ofLoop : all) {
                if (ofLoop.knows(sessionKey, deliveryId)) {
                    return true;
                }
            }
        }
        return false;
    }
}
