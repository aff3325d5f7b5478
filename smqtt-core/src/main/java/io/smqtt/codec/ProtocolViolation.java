// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import org.jspecify.annotations.Nullable;

/**
 * A violation of the protocol by a client, whose connection must be closed. Has no stack trace: it reports input of a peer, not a defect.
 */
public final class ProtocolViolation extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final ReasonCode reason;
    private final @Nullable ProtocolVersion connectVersion;

    /**
     * Creates a violation.
     *
     * @param reason the code for the DISCONNECT or CONNACK of MQTT 5.0
     * @param message the problem, without bytes of the peer
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
     * The version in which a refused CONNECT can be answered by a CONNACK. With {@link ReasonCode#UNSUPPORTED_PROTOCOL_VERSION} it is the version
     * closest to that of the CONNECT.
     *
     * @return null if the violation is not in a CONNECT, or was found before its version; then there is no answer
     */
    public @Nullable ProtocolVersion connectVersion() {
        return connectVersion;
    }
}
