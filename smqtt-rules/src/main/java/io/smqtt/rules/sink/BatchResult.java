// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import java.util.List;

/**
 * What became of a batch.
 *
 * @param refusals the rows that the sink does not have, or has to get again, with ascending indexes; it has all others
 */
public record BatchResult(List<Refusal> refusals) {

    /** The sink has all rows. */
    public static final BatchResult DONE = new BatchResult(List.of());

    /**
     * A row that the sink does not have, or has to get again.
     *
     * @param index of the row in the batch
     * @param reason a sentence for operators, without secrets
     * @param recoverable whether the row is sent again; otherwise its message is a dead letter
     * @param written whether the sink has the row all the same, and gets it again only to keep the order: such a row is no dead letter when the
     *     time for attempts is over
     */
    public record Refusal(int index, String reason, boolean recoverable, boolean written) {

        /**
         * A row that the sink does not have.
         *
         * @param index of the row in the batch
         * @param reason a sentence for operators, without secrets
         * @param recoverable whether the row is sent again; otherwise its message is a dead letter
         */
        public Refusal(int index, String reason, boolean recoverable) {
            this(index, reason, recoverable, false);
        }
    }

    /** Copies the list. */
    public BatchResult {
        refusals = List.copyOf(refusals);
    }
}
