// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ReasonCode;
import org.jspecify.annotations.Nullable;

/** A client identifier cannot be claimed; its client is refused. */
public final class ClaimRefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final ReasonCode reason;
    private final @Nullable String text;

    /**
     * Creates an exception without a stack trace.
     *
     * @param reason the reason code of the CONNACK, an error
     */
    public ClaimRefusedException(ReasonCode reason) {
        this(reason, null);
    }

    /**
     * Creates an exception without a stack trace.
     *
     * @param reason the reason code of the CONNACK, an error
     * @param text the reason string of the CONNACK, or null
     */
    public ClaimRefusedException(ReasonCode reason, @Nullable String text) {
        super(
                "the client identifier cannot be claimed: " + reason + (text == null ? "" : ", " + text),
                null,
                false,
                false);
        this.reason = reason;
        this.text = text;
    }

    /**
     * Returns the reason.
     *
     * @return the reason code of the CONNACK
     */
    public ReasonCode reason() {
        return reason;
    }

    /**
     * Returns the reason in words, for the client.
     *
     * @return the reason string of the CONNACK; null if there is none
     */
    public @Nullable String text() {
        return text;
    }
}
