// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.message.ReasonCode;
import java.io.Serial;

/** A consumer in this process was refused, or was ended by the broker. */
public final class ConsumerEndedException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1;

    private final ReasonCode reason;

    ConsumerEndedException(String consumer, ReasonCode reason) {
        super("the consumer " + consumer + " has ended: " + reason);
        this.reason = reason;
    }

    /**
     * The reason.
     *
     * @return {@link ReasonCode#SESSION_TAKEN_OVER} if a consumer of the name began on another node,
     *     {@link ReasonCode#ADMINISTRATIVE_ACTION} if it was disconnected or removed, {@link ReasonCode#QUOTA_EXCEEDED} if
     *     there are too many sessions or the store is full, {@link ReasonCode#SERVER_UNAVAILABLE} if another node has served the store of this
     *     one, with {@code storage.replicas} above 1
     */
    public ReasonCode reason() {
        return reason;
    }
}
