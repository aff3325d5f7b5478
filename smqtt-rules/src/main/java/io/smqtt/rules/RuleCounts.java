// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.spi.RuleStatus;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.atomic.LongAdder;

/**
 * The account of one action, in messages since it began. What was received is pending, did not match, went in circles, or matched; and what matched is
 * a success, a dead letter, dropped, or queued in the action.
 *
 * <p>A message is counted as received before it is evaluated, and as matched before it is settled. A snapshot reads these counts in the opposite order,
 * and what is between them is their difference, so that the account closes at any moment and no count ever decreases but those of the present.
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

    /** The account of this moment. */
    RuleStatus.Counts snapshot(long waiting, long queueDropped) {
        long succeeded = success.sum();
        long died = dead.sum();
        long lost = dropped.sum();
        long selected = matched.sum();
        long without = noResult.sum();
        long circles = loops.sum();
        long taken = received.sum();
        return new RuleStatus.Counts(
                taken,
                taken - selected - without - circles,
                without,
                circles,
                selected,
                failed.sum(),
                succeeded,
                died,
                lost,
                selected - succeeded - died - lost,
                retried.sum(),
                waiting,
                queueDropped);
    }
}
