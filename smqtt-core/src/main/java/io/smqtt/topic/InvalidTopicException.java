// SPDX-License-Identifier: Apache-2.0
package io.smqtt.topic;

/** Says that a string is not a topic name or topic filter. Carries no stack trace: it reports a peer's input, not a defect. */
public final class InvalidTopicException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what is wrong, without the offending string
     */
    public InvalidTopicException(String message) {
        super(message);
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
