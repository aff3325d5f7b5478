// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/**
 * An action that runs at a given time. It is linked into a {@link DeadlineWheel} intrusively, so that arming and cancelling
 * allocate nothing.
 */
@OnEventLoop
public abstract class Deadline {

    @Nullable
    Deadline previous;

    @Nullable
    Deadline next;

    @Nullable
    DeadlineWheel wheel;

    long dueTick;
    int slot;

    /** Creates a deadline that is not armed. */
    protected Deadline() {}

    /** Runs the action. Called on the wheel's event loop, after the deadline was removed from the wheel. */
    protected abstract void expired();

    /**
     * Returns whether the deadline is on a wheel.
     *
     * @return true between arming and expiry or cancellation
     */
    @AnyThread
    public final boolean isArmed() {
        return wheel != null;
    }

    /** Removes the deadline from its wheel; does nothing if it is not armed. */
    public final void cancel() {
        DeadlineWheel current = wheel;
        if (current != null) {
            current.remove(this);
        }
    }
}
