// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import java.io.Serial;

/** Too many lists are being read. Has no stack trace. */
public final class BrokerBusyException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    /** Creates the exception. */
    public BrokerBusyException() {
        this("too many lists are being read");
    }

    /**
     * Creates the exception, without a stack trace.
     *
     * @param message what is not possible now, for people
     */
    public BrokerBusyException(String message) {
        super(message, null, false, false);
    }
}
