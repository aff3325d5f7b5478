// SPDX-License-Identifier: Apache-2.0
/**
 * One network connection: what is legal now, limits, aliases, keep alive, and the port through which a session writes. It
 * dies with the socket.
 */
@NullMarked
package io.smqtt.connection;

import org.jspecify.annotations.NullMarked;
