// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.spi.RuleStatus;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.atomic.LongAdder;

/**
 * The account of one action, in messages since its rule was made; a change of the rule continues it. What was received is pending, did not match, went
 * in circles, or matched; and what matched is a success, a dead letter, dropped, or queued in the action.
 *
 * <p>A message is counted as received before it is evaluated, and as matched before it is settled. A snapshot reads these counts in the opposite order,
 * and what is between them is their difference, so that the account closes at any moment. No count ever decreases but those of the present, and, when a
 * rule is changed, what was received and matched: messages that stay in the queue then are taken out of both, and will be received again.
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
    private final LongAdder returnedPending = new LongAdder();
    private final LongAdder returnedMatched = new LongAdder();

    /**
     * Counts a message that the end of its action has left without an outcome.
     *
     * @param isMatched whether it was counted as matched
     * @param isLost whether no queue has it any more
     */
    void left(boolean isMatched, boolean isLost) {
        if (isLost) {
            if (!isMatched) {
                matched.increment();
            }
            dropped.increment();
        } else {
            (isMatched ? returnedMatched : returnedPending).increment();
        }
    }

    /** The account of this moment. */
    RuleStatus.Counts snapshot(long waiting, long queueDropped) {
        long succeeded = success.sum();
        long died = dead.sum();
        long lost = dropped.sum();
        long back = returnedMatched.sum();
        long selected = matched.sum() - back;
        long without = noResult.sum();
        long circles = loops.sum();
        long unread = returnedPending.sum();
        long taken = received.sum() - back - unread;
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
