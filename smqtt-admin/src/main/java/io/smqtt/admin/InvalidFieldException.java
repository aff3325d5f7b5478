// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import java.io.Serial;

/** A JSON body, or one of its fields, is not as it must be. The message names the field and quotes no value. */
public final class InvalidFieldException extends IllegalArgumentException {

    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message names the field
     */
    public InvalidFieldException(String message) {
        super(message);
    }
}
