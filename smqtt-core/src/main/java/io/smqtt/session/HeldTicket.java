// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.RouteTicket;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.atomic.AtomicInteger;

/** A ticket that counts who holds it. */
@AnyThread
public abstract class HeldTicket implements RouteTicket {

    private final AtomicInteger holds;
    private volatile boolean failed;

    /**
     * Creates a ticket.
     *
     * @param held how often it is held already
     */
    protected HeldTicket(int held) {
        holds = new AtomicInteger(held);
    }

    @Override
    public final void hold() {
        holds.incrementAndGet();
    }

    @Override
    public final void release(boolean success) {
        if (!success) {
            failed = true;
        }
        if (holds.decrementAndGet() == 0) {
            released(!failed);
        }
    }

    /**
     * Nobody holds it any more. On the thread of the last one.
     *
     * @param success whether all of them had success
     */
    protected abstract void released(boolean success);
}
