// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;

/**
 * What peers can make grow, and where it ends: {@code smqtt.limits.*}.
 *
 * @param maxConnections connections of the whole broker
 * @param maxPendingConnections connections of the whole broker that have not completed CONNECT
 * @param maxPendingConnectionsPerAddress the same from one address
 * @param connectRatePerAddress new connections per second from one address; 0 for no limit
 * @param maxPacketBytes the largest packet from a client, in bytes
 * @param maxConnectBytes the largest CONNECT, in bytes; also what is buffered before CONNECT is accepted
 * @param maxTopicBytes bytes of UTF-8 of a topic name or filter
 * @param maxTopicLevels levels of a topic name or filter
 * @param maxUserProperties user properties of one packet
 * @param maxFiltersPerSubscribe filters of one SUBSCRIBE or UNSUBSCRIBE
 * @param maxSubscriptionsPerClient subscriptions of one session
 * @param maxInFlight QoS 1 and 2 messages sent to one client and not yet acknowledged
 * @param receiveMaximum QoS 1 and 2 messages of one client that the broker has not yet acknowledged
 * @param maxAwaitingRelease QoS 2 messages of one session that wait for PUBREL
 * @param maxQueuedMessages messages queued for one session
 * @param maxQueuedBytes bytes queued for one session
 * @param maxTotalQueuedBytes bytes queued for all sessions together; past it publishers are slowed
 * @param maxRetainedMessages retained messages
 * @param maxRetainedBytes bytes of retained messages
 * @param maxSessions sessions of the whole broker, connected or not
 * @param maxSessionsPerUser sessions of one user; 0 for no limit
 * @param maxPublishRate messages per second that are read from one client; 0 for no limit
 * @param maxOutboundBytes bytes waiting in the socket of one client before QoS 0 is dropped
 * @param slowConsumerTimeout how long a client may stay unwritable before it is disconnected with 0x97
 */
public record LimitsConfig(
        int maxConnections,
        int maxPendingConnections,
        int maxPendingConnectionsPerAddress,
        int connectRatePerAddress,
        int maxPacketBytes,
        int maxConnectBytes,
        int maxTopicBytes,
        int maxTopicLevels,
        int maxUserProperties,
        int maxFiltersPerSubscribe,
        int maxSubscriptionsPerClient,
        int maxInFlight,
        int receiveMaximum,
        int maxAwaitingRelease,
        int maxQueuedMessages,
        long maxQueuedBytes,
        long maxTotalQueuedBytes,
        int maxRetainedMessages,
        long maxRetainedBytes,
        int maxSessions,
        int maxSessionsPerUser,
        int maxPublishRate,
        int maxOutboundBytes,
        Duration slowConsumerTimeout) {

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static LimitsConfig defaults() {
        return new LimitsConfig(
                1_000_000,
                5_000,
                1_000,
                0,
                1_048_576,
                65_536,
                4_096,
                128,
                100,
                1_000,
                1_000,
                1_024,
                1_024,
                1_024,
                1_000,
                16L << 20,
                256L << 20,
                1_000_000,
                256L << 20,
                1_000_000,
                0,
                0,
                1_048_576,
                Duration.ofSeconds(60));
    }
}
