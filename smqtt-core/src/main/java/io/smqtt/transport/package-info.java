// SPDX-License-Identifier: Apache-2.0
/**
 * Listeners: bound ports, the event loops that carry their connections, admission of new connections, and everything
 * between the socket and the first byte of MQTT: PROXY protocol, TLS and WebSocket.
 */
@NullMarked
package io.smqtt.transport;

import org.jspecify.annotations.NullMarked;
