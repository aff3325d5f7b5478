// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/**
 * Something that happens when its time comes, kept in a {@link DeadlineWheel} by links of its own, so that arming and
 * cancelling create nothing.
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

    /** What happens. Called on the wheel's event loop, after the deadline was taken off the wheel. */
    protected abstract void expired();

    /**
     * Tells whether the deadline is on a wheel.
     *
     * @return true between arming and expiry or cancellation
     */
    @AnyThread
    public final boolean isArmed() {
        return wheel != null;
    }

    /** Takes the deadline off its wheel; does nothing if it is not armed. */
    public final void cancel() {
        DeadlineWheel current = wheel;
        if (current != null) {
            current.remove(this);
        }
    }
}
