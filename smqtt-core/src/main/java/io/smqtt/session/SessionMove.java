// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.Subscription;
import java.util.ArrayList;
import java.util.List;

/**
 * A session on its way from one event loop to another. Messages that were routed to the old loop are passed on from there
 * and taken at once; what is routed straight to the new loop waits until the last of those has arrived, so that the order
 * of each publisher's messages survives the move [MQTT-4.6.0-6]. On the new loop only.
 */
final class SessionMove {

    private record Held(ApplicationMessage message, Subscription subscription) {}

    private final Session session;
    private final List<Held> held = new ArrayList<>();
    private final List<Runnable> afterwards = new ArrayList<>();

    SessionMove(Session session) {
        this.session = session;
    }

    void hold(ApplicationMessage message, Subscription subscription) {
        held.add(new Held(message, subscription));
    }

    /** Lets something wait for the end of the move. */
    void afterwards(Runnable task) {
        afterwards.add(task);
    }

    /** All that was passed on has arrived. */
    void finish() {
        for (Held delivery : held) {
            session.take(delivery.message(), delivery.subscription());
        }
        afterwards.forEach(Runnable::run);
    }
}
