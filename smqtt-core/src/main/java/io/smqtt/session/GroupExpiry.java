// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.OnEventLoop;
import java.util.concurrent.TimeUnit;

/** The time when the next message of a shared group's queue expires. */
@OnEventLoop
final class GroupExpiry extends Deadline {

    private final DeadlineWheel onto;
    private final Ticker ticker;
    private final Runnable action;
    private long seconds = Long.MAX_VALUE;

    GroupExpiry(DeadlineWheel onto, Ticker ticker, Runnable action) {
        this.onto = onto;
        this.ticker = ticker;
        this.action = action;
    }

    /** Registers a waiting message, which may have an expiry interval. */
    void await(ApplicationMessage message) {
        if (message.expiryIntervalSeconds() != ApplicationMessage.NEVER) {
            await(message.remainingExpirySeconds(ticker.nanoTime()));
        }
    }

    /** Registers an expiry after a number of seconds. */
    void await(long after) {
        if (after < seconds || !isArmed()) {
            seconds = after;
            onto.arm(this, TimeUnit.SECONDS.toMillis(after + 1));
        }
    }

    @Override
    protected void expired() {
        seconds = Long.MAX_VALUE;
        action.run();
    }
}
