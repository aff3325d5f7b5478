// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.spi.RuleStatus;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.atomic.LongAdder;

/**
 * The account of one action, in messages since it began. What was received did not match, went in circles, or matched; and what matched is a
 * success, a dead letter, dropped, or queued in the action.
 */
@AnyThread
final class RuleCounts {

    final LongAdder received = new LongAdder();
    final LongAdder noResult = new LongAdder();
    final LongAdder loops = new LongAdder();
    final LongAdder matched = new LongAdder();
    final LongAdder failed = new LongAdder();
    final LongAdder success = new LongAdder();
    final LongAdder dead = new LongAdder();
    final LongAdder dropped = new LongAdder();
    final LongAdder retried = new LongAdder();
    final LongAdder queued = new LongAdder();

    void matched() {
        matched.increment();
        queued.increment();
    }

    void succeeded() {
        success.increment();
        queued.decrement();
    }

    void died() {
        dead.increment();
        queued.decrement();
    }

    void lost() {
        dropped.increment();
        queued.decrement();
    }

    /** The account of this moment. */
    RuleStatus.Counts snapshot(long waiting, long queueDropped) {
        return new RuleStatus.Counts(
                received.sum(),
                noResult.sum(),
                loops.sum(),
                matched.sum(),
                failed.sum(),
                success.sum(),
                dead.sum(),
                dropped.sum(),
                queued.sum(),
                retried.sum(),
                waiting,
                queueDropped);
    }
}
