// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bytes;

import org.jspecify.annotations.Nullable;

/** Bytes that cannot be decoded. Has no stack trace, because untrusted peers can cause it. */
public final class MalformedBytesException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what is wrong, without the bytes themselves
     */
    public MalformedBytesException(String message) {
        this(message, null);
    }

    /**
     * Creates an exception for bytes that could not be read.
     *
     * @param message what is wrong
     * @param cause why they could not be read
     */
    public MalformedBytesException(@Nullable String message, @Nullable Throwable cause) {
        super(message, cause, false, false);
    }
}
