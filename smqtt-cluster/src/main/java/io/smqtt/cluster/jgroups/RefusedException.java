// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import java.io.IOException;

/** The other end of a connection is not a node of this cluster. */
final class RefusedException extends IOException {

    private static final long serialVersionUID = 1L;

    private final transient Refusals.Reason reason;

    /**
     * Creates an exception without a stack trace: strangers cause it.
     *
     * @param reason what is missing
     * @param message how that was noticed
     */
    RefusedException(Refusals.Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    Refusals.Reason reason() {
        return reason;
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
