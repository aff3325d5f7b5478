// SPDX-License-Identifier: Apache-2.0
/**
 * Network connections: allowed packets, limits, topic aliases, keep alive, and the sink of a session's packets. The state ends
 * with the socket.
 */
@NullMarked
package io.smqtt.connection;

import org.jspecify.annotations.NullMarked;
