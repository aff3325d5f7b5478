// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Waits until a message that was parked for another node, or by another node, is safe: with the one that serves the sessions of that node, and with the
 * members of groups that get it in the place of absent ones.
 */
@AnyThread
final class Inheritance implements RouteTicket {

    private final boolean exactlyOnce;
    private final Consumer<Boolean> taken;
    private final Executor loop;
    private final AtomicInteger holds = new AtomicInteger();
    private volatile boolean shared;
    private volatile boolean failed;

    /**
     * Creates it for a message that holds it once.
     *
     * @param taken receives once, on the loop, whether it is safe
     * @param loop the cluster's loop
     */
    Inheritance(ApplicationMessage message, Consumer<Boolean> taken, Executor loop) {
        this.exactlyOnce = message.qos() == QoS.EXACTLY_ONCE;
        this.taken = taken;
        this.loop = loop;
    }

    @Override
    public void hold() {
        shared |= holds.incrementAndGet() > 1;
    }

    @Override
    public void release(boolean success) {
        if (!success) {
            failed = true;
        }
        if (holds.decrementAndGet() > 0) {
            return;
        }
        boolean safe = !failed;
        if (shared) { // released by an event loop, perhaps
            loop.execute(() -> taken.accept(safe));
        } else {
            taken.accept(safe);
        }
    }

    @Override
    public boolean mayComeAgain() {
        return exactlyOnce;
    }

    @Override
    public boolean wantsStable() {
        return true;
    }

    @Override
    public boolean waitsForRoom() {
        return true; // it is tried again
    }
}
