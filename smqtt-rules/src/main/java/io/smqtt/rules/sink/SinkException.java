// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

/** The failure of a whole batch, or of a check. */
public final class SinkException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final boolean recoverable;

    /**
     * Creates a failure.
     *
     * @param reason a sentence for operators, without secrets and without parts of the messages
     * @param recoverable whether the same batch may succeed later
     */
    public SinkException(String reason, boolean recoverable) {
        super(reason, null, false, false);
        this.recoverable = recoverable;
    }

    /**
     * Whether the batch is sent again.
     *
     * @return false if its rows are refused: they are sent one by one then, and those that are refused again are dead letters
     */
    public boolean isRecoverable() {
        return recoverable;
    }
}
