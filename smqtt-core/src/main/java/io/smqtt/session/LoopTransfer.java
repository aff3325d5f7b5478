// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.thread.OnEventLoop;

/**
 * The transfer of a session to another event loop. Nothing is copied: the new loop owns the session at once, and messages that
 * are in transit to the old loop are passed on. A barrier through all loops follows them.
 */
@OnEventLoop
final class LoopTransfer extends SessionTransfer {

    private final Session session;
    private final Router router;

    LoopTransfer(Session session, Router router) {
        super(session.id());
        this.session = session;
        this.router = router;
    }

    /**
     * Transfers the session. On its event loop.
     *
     * @param arrived runs on the new event loop, before the messages in transit have arrived
     */
    void begin(RoutingLoop target, Runnable arrived) {
        RoutingLoop origin = session.owner();
        SessionRecord record = session.record();
        if (record != null) {
            record.loop().flush(); // before the new loop writes anything
        }
        become(Step.CATCHING_UP);
        holdBack(session, false);
        session.life().moveTo(target);
        target.executor().execute(arrived);
        router.afterDeliveriesVia(origin, target, this::complete);
    }

    private void complete() {
        become(Step.COMPLETED);
        session.life().settleMove();
        letGo(session);
        session.life().runWaiting();
    }
}
