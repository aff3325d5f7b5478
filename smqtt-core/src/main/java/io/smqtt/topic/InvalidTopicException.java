// SPDX-License-Identifier: Apache-2.0
package io.smqtt.topic;

/** A string is not a topic name or topic filter. Has no stack trace: it reports input of a peer, not a defect. */
public final class InvalidTopicException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message the problem, without the string itself
     */
    public InvalidTopicException(String message) {
        super(message);
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
