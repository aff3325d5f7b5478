// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/** Stored data cannot be read. The message has the file and the remedy. */
public final class StoreDamagedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final long sequence;

    /**
     * Creates an exception.
     *
     * @param message the file, its damage, and the remedy
     * @param cause the error of the library, or null
     */
    public StoreDamagedException(String message, @org.jspecify.annotations.Nullable Throwable cause) {
        this(message, cause, 0);
    }

    /**
     * Creates an exception for one message of a session's queue.
     *
     * @param message the file, its damage, and the remedy
     * @param cause the error of the library, or null
     * @param sequence the sequence number of the message, or 0 if it is not known
     */
    public StoreDamagedException(String message, @org.jspecify.annotations.Nullable Throwable cause, long sequence) {
        super(message, cause);
        this.sequence = sequence;
    }

    /**
     * The message that cannot be read. The messages before it and behind it may be readable.
     *
     * @return its sequence number, or 0 if it is not known, or not a message
     */
    public long sequence() {
        return sequence;
    }
}
