// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ReasonCode;

/** A client identifier cannot be claimed; its client is refused. */
public final class ClaimRefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final ReasonCode reason;

    /**
     * Creates an exception without a stack trace.
     *
     * @param reason the reason code of the CONNACK, an error
     */
    public ClaimRefusedException(ReasonCode reason) {
        super("the client identifier cannot be claimed: " + reason, null, false, false);
        this.reason = reason;
    }

    /**
     * Returns the reason.
     *
     * @return the reason code of the CONNACK
     */
    public ReasonCode reason() {
        return reason;
    }
}
