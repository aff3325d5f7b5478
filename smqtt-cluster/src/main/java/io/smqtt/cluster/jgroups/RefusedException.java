// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.spi.ClusterTransport.Refusal;
import java.io.IOException;

/** The peer of a connection is not a node of this cluster. */
final class RefusedException extends IOException {

    private static final long serialVersionUID = 1L;

    private final transient Refusal reason;

    /**
     * Creates an exception without a stack trace, because untrusted peers can cause it.
     *
     * @param reason the kind of refusal
     * @param message the details
     */
    RefusedException(Refusal reason, String message) {
        super(message);
        this.reason = reason;
    }

    Refusal reason() {
        return reason;
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
