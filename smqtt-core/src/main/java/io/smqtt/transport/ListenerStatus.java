// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.smqtt.config.ListenerConfig;

/**
 * The state of a listener. Immutable.
 *
 * @param name its name
 * @param config its configuration
 * @param port the port, the real one if it was ever bound
 * @param running whether it accepts connections
 * @param connections the number of its open connections
 */
public record ListenerStatus(String name, ListenerConfig config, int port, boolean running, int connections) {}
