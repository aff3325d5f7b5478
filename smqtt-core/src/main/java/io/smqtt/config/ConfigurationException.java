// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import org.jspecify.annotations.Nullable;

/** Says that a configuration, or a file that it names, cannot be used. The broker does not start with it. */
public final class ConfigurationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what is wrong, where (for a file {@code file:line}), and what to do; without secrets
     */
    public ConfigurationException(String message) {
        super(message);
    }

    /**
     * Creates the exception.
     *
     * @param message what is wrong, where, and what to do; without secrets
     * @param cause what failed, or null
     */
    public ConfigurationException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
