// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.ClientInfo;
import org.jspecify.annotations.Nullable;

/**
 * A session in a list for operators, as a snapshot. Immutable.
 *
 * @param info identity and counts
 * @param keepAliveSeconds the keep alive in force; 0 for none, or without a connection
 * @param expirySeconds the session expiry interval; 4294967295 if it never expires
 * @param stored whether the session survives a restart
 * @param sendMaximum maximum number of unacknowledged messages; 0 without a connection
 * @param queuedBytes size of the queue, as it counts against the limits
 * @param dropped messages that the queue has dropped since the session began on this node
 * @param cleanStart the Clean Start flag of the CONNECT; null without a connection
 * @param connectedAtMillis the time of the CONNECT in milliseconds since 1970; null without a connection
 * @param front the front node by which the client has come; null if it is connected to this node, or not connected
 */
public record ClientRow(
        ClientInfo info,
        int keepAliveSeconds,
        long expirySeconds,
        boolean stored,
        int sendMaximum,
        long queuedBytes,
        long dropped,
        @Nullable Boolean cleanStart,
        @Nullable Long connectedAtMillis,
        @Nullable String front) {}
