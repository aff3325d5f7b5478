// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.Subscription;
import io.smqtt.thread.OnEventLoop;

/** A message in memory on its way to a member of its group on another node: it waits here again if it does not arrive. */
@OnEventLoop
final class Crossing extends HeldTicket {

    private final Session session;
    private final ApplicationMessage message;
    private final Subscription subscription;

    Crossing(Session session, ApplicationMessage message, Subscription subscription) {
        super(0);
        this.session = session;
        this.message = message;
        this.subscription = subscription;
    }

    @Override
    protected void released(boolean success) {
        session.execute(() -> session.member().crossed(message, subscription, success));
    }
}
