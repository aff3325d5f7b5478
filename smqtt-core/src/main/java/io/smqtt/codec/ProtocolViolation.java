// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import org.jspecify.annotations.Nullable;

/**
 * Says that a client broke the protocol and its connection must be closed. Carries no stack trace: it reports a peer's
 * input, not a defect.
 */
public final class ProtocolViolation extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final ReasonCode reason;
    private final @Nullable ProtocolVersion connectVersion;

    /**
     * Creates a violation.
     *
     * @param reason the code for the DISCONNECT or CONNACK of MQTT 5.0
     * @param message what is wrong, without the peer's own bytes
     */
    public ProtocolViolation(ReasonCode reason, String message) {
        this(reason, message, null);
    }

    private ProtocolViolation(ReasonCode reason, String message, @Nullable ProtocolVersion connectVersion) {
        super(message, null, false, false);
        this.reason = reason;
        this.connectVersion = connectVersion;
    }

    /** The same violation, found in a CONNECT whose version could be read. */
    ProtocolViolation inConnect(ProtocolVersion version) {
        return new ProtocolViolation(reason, String.valueOf(getMessage()), version);
    }

    /**
     * The code for the DISCONNECT or CONNACK.
     *
     * @return an error code
     */
    public ReasonCode reason() {
        return reason;
    }

    /**
     * The version in whose form a refused CONNECT can be answered with a CONNACK. With {@link
     * ReasonCode#UNSUPPORTED_PROTOCOL_VERSION} it is the version that comes closest to what the client asked for.
     *
     * @return null if the violation is not in a CONNECT, or before its version could be read: there is no answer then
     */
    public @Nullable ProtocolVersion connectVersion() {
        return connectVersion;
    }
}
