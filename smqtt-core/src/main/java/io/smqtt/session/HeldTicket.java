// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.RouteTicket;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.atomic.AtomicInteger;

/** A ticket that counts its holders. */
@AnyThread
public abstract class HeldTicket implements RouteTicket {

    private final AtomicInteger holds;
    private volatile boolean failed;

    /**
     * Creates a ticket.
     *
     * @param held the initial number of holds
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
     * Called when the last hold was released, on the thread of that holder.
     *
     * @param success whether all holders reported success
     */
    protected abstract void released(boolean success);
}
