// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;

/**
 * Limits on everything that peers can make grow: {@code smqtt.limits.*}. Byte limits that depend on the heap are computed from
 * {@link Runtime#maxMemory()} when the defaults are created.
 *
 * @param maxConnections maximum number of connections of the broker; further ones are closed at once
 * @param maxPendingConnections maximum number of connections before CONNACK, TLS handshakes included. Past it the
 *     oldest connection of the address with the most is closed, on the same event loop. By default one for each 128 KiB
 *     of the heap, at most 5,000
 * @param maxPendingConnectionsPerAddress the same for one address, which gets the same share of max-pending-bytes.
 *     By default an eighth of the default of max-pending-connections, at most 1,000
 * @param maxPendingBytes maximum memory of all connections before CONNACK. Past it the oldest connections of the
 *     address with the most are closed. By default 5 % of the heap
 * @param connectRatePerAddress maximum number of new connections per second from one address; 0 for no limit
 * @param maxPacketBytes maximum size of a packet from a client; CONNACK has it as Maximum Packet Size
 * @param maxConnectBytes maximum size of a CONNECT; also the maximum that is buffered for a client before its
 *     CONNECT is accepted
 * @param maxTopicBytes maximum length of a topic name or filter in UTF-8
 * @param maxTopicLevels maximum number of levels of a topic name or filter
 * @param maxUserProperties maximum number of user properties of one packet
 * @param maxFiltersPerSubscribe maximum number of filters of one SUBSCRIBE or UNSUBSCRIBE
 * @param maxSubscriptionsPerClient maximum number of subscriptions of one session
 * @param maxInFlight maximum number of QoS 1 and 2 messages in flight to one client; a lower Receive Maximum of the
 *     client wins
 * @param receiveMaximum maximum number of QoS 1 and 2 messages in flight from one client; CONNACK has it as Receive
 *     Maximum
 * @param maxAwaitingRelease maximum number of QoS 2 messages of one session that wait for PUBREL
 * @param maxQueuedMessages maximum number of messages queued for one session, while its client is offline or slow
 * @param maxQueuedBytes maximum size of the queue of one session
 * @param maxTotalQueuedBytes maximum size of all queues and all messages in flight; a message counts once for each
 *     session. Past it publishers are slowed. Past one and a half times of it messages are dropped that would have to
 *     wait in memory. By default a quarter of the heap
 * @param maxDirectPayloadBytes maximum memory, outside of the heap, of network buffers in which large payloads stay while
 *     they are delivered. Past it payloads are copied to the heap; 0 to copy all. By default 12 % of the heap
 * @param maxRetainedMessages maximum number of retained messages. Past it new topics are refused; existing ones can
 *     still be replaced
 * @param maxRetainedBytes maximum heap of retained messages. By default a quarter of the heap
 * @param maxSessions maximum number of sessions of the broker, online and offline
 * @param maxSessionsPerUser maximum number of sessions of one user; 0 for no limit
 * @param maxSessionBytes maximum heap of one session: identifiers, will and subscriptions. Past it a CONNECT or a
 *     filter is refused with 0x97. By default 2 % of the heap
 * @param maxUserSessionBytes the same for all sessions of one user that outlive their connections; clients without
 *     a user name share one limit. By default 15 % of the heap
 * @param maxTotalSessionBytes the same for all sessions, online and offline; the last fifth is reserved for
 *     sessions that end with their connections. Stored sessions that do not fit at the start are not loaded and stay in
 *     the store. By default 25 % of the heap
 * @param maxRetainedRate maximum number of retained messages per second that are sent to one client after a SUBSCRIBE; 0 for no limit
 * @param maxPublishRate maximum number of messages per second that are read from one client; 0 for no limit
 * @param maxPublishBurst number of messages that may come at once from one client after a pause; 0 for those of a
 *     second
 * @param maxBytesRate maximum number of bytes per second that are read from one client; 0 for no limit
 * @param maxBytesBurst number of bytes that may come at once from one client after a pause; 0 for those of a second
 * @param overRate what happens to QoS 0 messages over a rate of messages, of a client, its user or its listener: they {@code wait} as
 *     their client is not read for a while, or they are dropped with {@code drop} while it is read on. Other messages, and all bytes, wait
 * @param user limits on all clients of one user together
 * @param maxOutboundBytes maximum number of bytes that wait for the socket of one client; past it QoS 0 messages to
 *     this client are dropped
 * @param slowConsumerTimeout maximum time for which a client reads nothing although data waits for it; then it is
 *     disconnected with 0x97
 */
@ConfigBlock("limits")
public record LimitsConfig(
        @Setting(value = "1000000", min = "1", max = "100000000")
        int maxConnections,

        @Setting(by = "pendingConnections", min = "1", max = "1000000", shown = "5000")
        int maxPendingConnections,

        @Setting(by = "pendingConnectionsPerAddress", min = "1", max = "1000000", shown = "625")
        int maxPendingConnectionsPerAddress,

        @Setting(value = "5%", min = "1", max = "1TiB") long maxPendingBytes,
        @Setting(value = "0", min = "0", max = "1000000") int connectRatePerAddress,

        @Setting(value = "1MiB", min = "16", max = "268435460")
        int maxPacketBytes,

        @Setting(value = "64KiB", min = "16", max = "16MiB") int maxConnectBytes,
        @Setting(value = "4KiB", min = "1", max = "65535") int maxTopicBytes,
        @Setting(value = "128", min = "1", max = "65535") int maxTopicLevels,
        @Setting(value = "100", min = "0", max = "65535") int maxUserProperties,
        @Setting(value = "1000", min = "1", max = "100000") int maxFiltersPerSubscribe,

        @Setting(value = "1000", min = "1", max = "10000000")
        int maxSubscriptionsPerClient,

        @Setting(value = "1024", min = "1", max = "65535") int maxInFlight,
        @Setting(value = "1024", min = "1", max = "65535") int receiveMaximum,
        @Setting(value = "1024", min = "1", max = "65535") int maxAwaitingRelease,

        @Setting(value = "1000", min = "1", max = "100000000")
        int maxQueuedMessages,

        @Setting(value = "16MiB", min = "1", max = "1TiB") long maxQueuedBytes,
        @Setting(value = "25%", min = "1", max = "1TiB") long maxTotalQueuedBytes,

        @Setting(value = "12%", min = "0", max = "1TiB") long maxDirectPayloadBytes,

        @Setting(value = "1000000", min = "0", max = "100000000")
        int maxRetainedMessages,

        @Setting(value = "25%", min = "0", max = "1TiB") long maxRetainedBytes,

        @Setting(value = "1000000", min = "1", max = "100000000")
        int maxSessions,

        @Setting(value = "0", min = "0", max = "100000000") int maxSessionsPerUser,
        @Setting(value = "2%", min = "1024", max = "1GiB") long maxSessionBytes,
        @Setting(value = "15%", min = "1024", max = "1TiB") long maxUserSessionBytes,
        @Setting(value = "25%", min = "1024", max = "1TiB") long maxTotalSessionBytes,
        @Setting(value = "0", min = "0", max = "100000000") int maxRetainedRate,
        @Setting(value = "0", min = "0", max = "100000000") int maxPublishRate,
        @Setting(value = "0", min = "0", max = "100000000") int maxPublishBurst,
        @Setting(value = "0", min = "0", max = "1TiB") long maxBytesRate,
        @Setting(value = "0", min = "0", max = "1TiB") long maxBytesBurst,
        @Setting("wait") OverRate overRate,
        UserLimitsConfig user,
        @Setting(value = "1MiB", min = "1", max = "1GiB") int maxOutboundBytes,
        @Setting(value = "1m", min = "1ms", max = "1d") Duration slowConsumerTimeout) {

    /** What happens to QoS 0 messages over a rate of messages. */
    public enum OverRate {
        /** They wait. */
        WAIT,
        /** They are dropped. */
        DROP
    }

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static LimitsConfig defaults() {
        return builder().build();
    }

    /**
     * Creates a builder with the defaults.
     *
     * @return a builder, for one thread
     */
    public static LimitsConfigBuilder builder() {
        return new LimitsConfigBuilder();
    }

    /**
     * The part of {@link #maxPendingBytes()} that one address may use on several connections: the same share as that of the pending
     * connections.
     *
     * @return bytes
     */
    public long maxPendingBytesPerAddress() {
        double share = (double) maxPendingConnectionsPerAddress / maxPendingConnections;
        return share >= 1 ? maxPendingBytes : Math.max(1, (long) (maxPendingBytes * share));
    }

    /** A TLS handshake in progress takes some ten kilobytes of heap. */
    static int pendingConnections() {
        return (int) Math.max(100, Math.min(5_000, Runtime.getRuntime().maxMemory() >> 17));
    }

    static int pendingConnectionsPerAddress() {
        return Math.min(1_000, pendingConnections() / 8);
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public LimitsConfigBuilder toBuilder() {
        return new LimitsConfigBuilder(this);
    }
}
