// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.routing.RouteTicket;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Waits until a {@link BridgeNote} is stored. Held once from the start. */
@AnyThread
final class NoteTicket implements RouteTicket {

    private final boolean stable;
    private final Consumer<Boolean> then;
    private final AtomicInteger holds = new AtomicInteger(1);
    private volatile boolean failed;

    /**
     * Creates a ticket that is held.
     *
     * @param stable whether stable storage is wanted
     * @param then receives whether the note is stored, on the thread that releases the last hold
     */
    NoteTicket(boolean stable, Consumer<Boolean> then) {
        this.stable = stable;
        this.then = then;
    }

    @Override
    public boolean wantsStable() {
        return stable;
    }

    @Override
    public void hold() {
        holds.incrementAndGet();
    }

    @Override
    public void release(boolean success) {
        if (!success) {
            failed = true;
        }
        if (holds.decrementAndGet() == 0) {
            then.accept(!failed);
        }
    }
}
