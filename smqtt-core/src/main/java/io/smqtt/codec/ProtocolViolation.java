// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.smqtt.message.ReasonCode;

/**
 * Says that a client broke the protocol and its connection must be closed. Carries no stack trace: it reports a peer's
 * input, not a defect.
 */
public final class ProtocolViolation extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final ReasonCode reason;

    /**
     * Creates a violation.
     *
     * @param reason the code for the DISCONNECT or CONNACK of MQTT 5.0
     * @param message what is wrong, without the peer's own bytes
     */
    public ProtocolViolation(ReasonCode reason, String message) {
        super(message, null, false, false);
        this.reason = reason;
    }

    /**
     * The code for the DISCONNECT or CONNACK.
     *
     * @return an error code
     */
    public ReasonCode reason() {
        return reason;
    }
}
