// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.AnyThread;

/** Keeps a will in the store until its message is committed by all receivers. */
@AnyThread
final class WillTicket extends HeldTicket {

    private final Runnable safe;
    private final boolean waits;
    private final boolean stable;

    /**
     * Creates a ticket with one hold, to be released after routing.
     *
     * @param safe called when the message is committed; not called if it could not be kept
     * @param waits whether acknowledgements wait for the store
     * @param stable whether stable storage is required
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
