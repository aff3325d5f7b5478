// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

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
}
