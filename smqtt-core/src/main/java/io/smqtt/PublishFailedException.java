// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import java.util.List;

/** Some of several messages that were published together could not be kept: no store or node has them for those who must get them. */
public final class PublishFailedException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    private final List<Integer> indexes;

    /**
     * Creates a failure.
     *
     * @param indexes which messages could not be kept, in ascending order, at least one
     * @param reason a sentence for operators
     */
    public PublishFailedException(List<Integer> indexes, String reason) {
        super(reason);
        this.indexes = List.copyOf(indexes);
    }

    /**
     * The messages to publish again.
     *
     * @return their places in the list that was published, in ascending order; all others are as safe as acknowledged messages of clients
     */
    public List<Integer> indexes() {
        return indexes;
    }
}
