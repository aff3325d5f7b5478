// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.object;

/** A change of an object is refused, or could not be stored. The message is for people. */
public final class ObjectRefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Why a change is refused. */
    public enum Reason {
        /** The object has another version than the expected one. */
        CHANGED,
        /** There is such an object already. */
        EXISTS,
        /** There is no such object. */
        MISSING,
        /** The object is of the configuration file. */
        READ_ONLY,
        /** The object, its identifier or the state after the change is not allowed. */
        INVALID,
        /** A limit is reached. */
        LIMIT,
        /** The store has not confirmed the change, which may be lost by a crash. */
        NOT_STORED
    }

    private final Reason reason;

    /**
     * Creates the exception, without a stack trace.
     *
     * @param reason the reason
     * @param message one sentence without a full stop
     */
    public ObjectRefusedException(Reason reason, String message) {
        super(message, null, false, false);
        this.reason = reason;
    }

    /**
     * Returns the reason.
     *
     * @return the reason
     */
    public Reason reason() {
        return reason;
    }
}
