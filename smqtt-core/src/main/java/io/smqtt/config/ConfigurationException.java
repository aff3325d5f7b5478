// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import org.jspecify.annotations.Nullable;

/** The configuration, or a file that it names, cannot be used; the message says which key or file and why. */
public final class ConfigurationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception.
     *
     * @param message the key or file, what is wrong with it, and what to do
     * @param cause what failed, or null
     */
    public ConfigurationException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
