// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of a rule of this node. Immutable. Counts begin with the broker.
 *
 * @param name its name in the configuration
 * @param sql the statement
 * @param description the text for people, or empty
 * @param sources the topic filters that it reads
 * @param actions its actions, in the order of the configuration
 */
public record RuleStatus(String name, String sql, String description, List<String> sources, List<Action> actions) {

    /** Copies the lists. */
    public RuleStatus {
        sources = List.copyOf(sources);
        actions = List.copyOf(actions);
    }

    /**
     * The state of an action.
     *
     * @param name its name in the rule
     * @param type the kind of sink
     * @param lastError why the last attempt failed, while it fails; null while it works
     * @param counts its account
     */
    public record Action(String name, String type, @Nullable String lastError, Counts counts) {}

    /**
     * The account of an action, in messages. At any moment what was received is pending, has no result, went in circles, or matched; and what matched
     * is a success, dead, dropped or queued.
     *
     * @param received messages taken from the queue
     * @param pending messages that wait for their evaluation, or are being evaluated: for a thread, or for memory of the rows before them
     * @param noResult messages that the statement did not select
     * @param loops messages that went in circles
     * @param matched messages that the statement selected, or could not be evaluated for
     * @param failed messages for which the statement could not be evaluated; they are dead
     * @param success messages whose rows the sink has
     * @param dead dead letters
     * @param dropped messages in memory that were lost at the end of the action
     * @param queued messages on their way to the sink
     * @param retried rows that were sent again
     * @param waiting messages in the queue
     * @param queueDropped messages that the queue has dropped: it was full, or they were of QoS 0 and did not fit into memory
     */
    public record Counts(
            long received,
            long pending,
            long noResult,
            long loops,
            long matched,
            long failed,
            long success,
            long dead,
            long dropped,
            long queued,
            long retried,
            long waiting,
            long queueDropped) {}
}
