// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Nobody was asked, because the token for it cannot be read. */
final class TokenFileException extends IOException {

    private static final long serialVersionUID = 1L;

    /**
     * Tells of a file.
     *
     * @param message which file, why, and what to do, for people
     * @param cause what reading it said, or null
     */
    TokenFileException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
