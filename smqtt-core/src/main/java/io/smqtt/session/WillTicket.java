// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.AnyThread;

/** Lets a will wait in the store until its message is safe with all who get it. */
@AnyThread
final class WillTicket extends HeldTicket {

    private final Runnable safe;
    private final boolean waits;
    private final boolean stable;

    /**
     * Creates a ticket that is held until the will was routed.
     *
     * @param safe is called when the message is safe, and not at all if it could not be kept
     * @param waits whether anything waits for the store
     * @param stable whether only stable storage is safe enough
     */
    WillTicket(Runnable safe, boolean waits, boolean stable) {
        super(1);
        this.safe = safe;
        this.waits = waits;
        this.stable = stable;
    }

    @Override
    protected void released(boolean success) {
        if (success) {
            safe.run();
        }
    }

    @Override
    public boolean waitsForStore() {
        return waits;
    }

    @Override
    public boolean wantsStable() {
        return stable;
    }
}
