// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;

/**
 * Limits on everything that peers can make grow: {@code smqtt.limits.*}. Byte limits that follow the heap are taken from
 * {@link Runtime#maxMemory()} when the defaults are made.
 *
 * @param maxConnections connections of the whole broker; more are closed when they are accepted
 * @param maxPendingConnections connections of the whole broker whose client is not let in yet; handshakes count. For one
 *     more the oldest of the address that has most is closed, on the same event loop. By default one for each 128 KiB of the
 *     heap, at most 5,000
 * @param maxPendingConnectionsPerAddress the same from one address, which has that share of the pending bytes, too. By
 *     default an eighth of the default of all, at most 1,000
 * @param maxPendingBytes bytes received by all connections whose client is not let in yet, together; past it the oldest
 *     of the address that holds most are closed. By default 5 % of the heap
 * @param connectRatePerAddress new connections per second from one address; 0 for no limit
 * @param maxPacketBytes the largest packet from a client; MQTT 5.0 clients learn it in CONNACK
 * @param maxConnectBytes the largest CONNECT; also the most that is buffered for a client before its CONNECT is
 *     accepted
 * @param maxTopicBytes bytes of UTF-8 of a topic name or filter
 * @param maxTopicLevels levels of a topic name or filter
 * @param maxUserProperties user properties of one packet
 * @param maxFiltersPerSubscribe filters of one SUBSCRIBE or UNSUBSCRIBE
 * @param maxSubscriptionsPerClient subscriptions of one session
 * @param maxInFlight QoS 1 and 2 messages sent to one client and not yet acknowledged; a client may ask for less
 * @param receiveMaximum QoS 1 and 2 messages of one client that the broker has not yet acknowledged
 * @param maxAwaitingRelease QoS 2 messages of one session that wait for PUBREL
 * @param maxQueuedMessages messages queued for one session, offline or slow
 * @param maxQueuedBytes bytes queued for one session
 * @param maxTotalQueuedBytes bytes queued for all sessions together, or sent and not acknowledged; a message counts once
 *     for each session. Past it publishers are slowed, and past one and a half times of it what does not fit into a window or
 *     a stored queue is dropped. By default a quarter of the heap
 * @param maxRetainedMessages retained messages; past it new topics are refused, known ones are still replaced
 * @param maxRetainedBytes bytes of retained messages. By default a quarter of the heap
 * @param maxSessions sessions of the whole broker, connected or not
 * @param maxSessionsPerUser sessions of one user; 0 for no limit
 * @param maxSessionBytes bytes of heap of one session: its identifiers, will and subscriptions. Past it a CONNECT or filter
 *     is refused with 0x97. By default 2 % of the heap
 * @param maxUserSessionBytes the same for all sessions of one user that outlive their connections; all clients without
 *     a user name are one. By default 15 % of the heap
 * @param maxTotalSessionBytes the same for all sessions, connected or not; the last fifth is for those that end with their
 *     connections. Stored ones that do not fit at the start stay in the store, unseen. By default 25 % of the heap
 * @param maxPublishRate messages per second that are read from one client; 0 for no limit
 * @param maxOutboundBytes bytes waiting for the socket of one client before its QoS 0 messages are dropped
 * @param slowConsumerTimeout how long a client may stay unwritable before it is disconnected with 0x97
 */
public record LimitsConfig(
        @ConfigDoc(
                value = "maximum number of connections of the broker; further ones are closed at once",
                min = "1",
                max = "100000000")
        int maxConnections,

        @ConfigDoc(
                value =
                        "maximum number of connections before CONNACK, TLS handshakes included. Past it the oldest connection "
                                + "of the address with the most is closed, on the same event loop. By default one for each 128 KiB of "
                                + "the heap, at most 5,000",
                min = "1",
                max = "1000000",
                shown = "5000")
        int maxPendingConnections,

        @ConfigDoc(
                value =
                        "the same for one address, which gets the same share of max-pending-bytes. By default an eighth of "
                                + "the default of max-pending-connections, at most 1,000",
                min = "1",
                max = "1000000",
                shown = "625")
        int maxPendingConnectionsPerAddress,

        @ConfigDoc(
                value =
                        "maximum memory of all connections before CONNACK. Past it the oldest connections of the address with "
                                + "the most are closed. By default 5 % of the heap",
                min = "1",
                max = "1TiB",
                shown = "5%")
        long maxPendingBytes,

        @ConfigDoc(
                value = "maximum number of new connections per second from one address; 0 for no limit",
                min = "0",
                max = "1000000")
        int connectRatePerAddress,

        @ConfigDoc(
                value = "maximum size of a packet from a client; CONNACK has it as Maximum Packet Size",
                min = "16",
                max = "268435460")
        int maxPacketBytes,

        @ConfigDoc(
                value =
                        "maximum size of a CONNECT; also the maximum that is buffered for a client before its CONNECT is "
                                + "accepted",
                min = "16",
                max = "16MiB")
        int maxConnectBytes,

        @ConfigDoc(value = "maximum length of a topic name or filter in UTF-8", min = "1", max = "65535")
        int maxTopicBytes,

        @ConfigDoc(value = "maximum number of levels of a topic name or filter", min = "1", max = "65535")
        int maxTopicLevels,

        @ConfigDoc(value = "maximum number of user properties of one packet", min = "0", max = "65535")
        int maxUserProperties,

        @ConfigDoc(value = "maximum number of filters of one SUBSCRIBE or UNSUBSCRIBE", min = "1", max = "100000")
        int maxFiltersPerSubscribe,

        @ConfigDoc(value = "maximum number of subscriptions of one session", min = "1", max = "10000000")
        int maxSubscriptionsPerClient,

        @ConfigDoc(
                value =
                        "maximum number of QoS 1 and 2 messages in flight to one client; a lower Receive Maximum of the "
                                + "client wins",
                min = "1",
                max = "65535")
        int maxInFlight,

        @ConfigDoc(
                value =
                        "maximum number of QoS 1 and 2 messages in flight from one client; CONNACK has it as Receive Maximum",
                min = "1",
                max = "65535")
        int receiveMaximum,

        @ConfigDoc(
                value = "maximum number of QoS 2 messages of one session that wait for PUBREL",
                min = "1",
                max = "65535")
        int maxAwaitingRelease,

        @ConfigDoc(
                value = "maximum number of messages queued for one session, while its client is offline or slow",
                min = "1",
                max = "100000000")
        int maxQueuedMessages,

        @ConfigDoc(value = "maximum size of the queue of one session", min = "1", max = "1TiB")
        long maxQueuedBytes,

        @ConfigDoc(
                value =
                        "maximum size of all queues and all messages in flight; a message counts once for each session. Past "
                                + "it publishers are slowed. Past one and a half times of it messages are dropped that would have to "
                                + "wait in memory. By default a quarter of the heap",
                min = "1",
                max = "1TiB",
                shown = "25%")
        long maxTotalQueuedBytes,

        @ConfigDoc(
                value =
                        "maximum number of retained messages. Past it new topics are refused; existing ones can still be "
                                + "replaced",
                min = "0",
                max = "100000000")
        int maxRetainedMessages,

        @ConfigDoc(
                value = "maximum heap of retained messages. By default a quarter of the heap",
                min = "0",
                max = "1TiB",
                shown = "25%")
        long maxRetainedBytes,

        @ConfigDoc(value = "maximum number of sessions of the broker, online and offline", min = "1", max = "100000000")
        int maxSessions,

        @ConfigDoc(value = "maximum number of sessions of one user; 0 for no limit", min = "0", max = "100000000")
        int maxSessionsPerUser,

        @ConfigDoc(
                value =
                        "maximum heap of one session: identifiers, will and subscriptions. Past it a CONNECT or a filter is "
                                + "refused with 0x97. By default 2 % of the heap",
                min = "1024",
                max = "1GiB",
                shown = "2%")
        long maxSessionBytes,

        @ConfigDoc(
                value =
                        "the same for all sessions of one user that outlive their connections; clients without a user name "
                                + "share one limit. By default 15 % of the heap",
                min = "1024",
                max = "1TiB",
                shown = "15%")
        long maxUserSessionBytes,

        @ConfigDoc(
                value =
                        "the same for all sessions, online and offline; the last fifth is reserved for sessions that end with "
                                + "their connections. Stored sessions that do not fit at the start are not loaded and stay in the "
                                + "store. By default 25 % of the heap",
                min = "1024",
                max = "1TiB",
                shown = "25%")
        long maxTotalSessionBytes,

        @ConfigDoc(
                value = "maximum number of messages per second that are read from one client; 0 for no limit",
                min = "0",
                max = "100000000")
        int maxPublishRate,

        @ConfigDoc(
                value =
                        "maximum number of bytes that wait for the socket of one client; past it QoS 0 messages to this "
                                + "client are dropped",
                min = "1",
                max = "1GiB")
        int maxOutboundBytes,

        @ConfigDoc(
                value =
                        "maximum time for which a client reads nothing although data waits for it; then it is disconnected "
                                + "with 0x97",
                min = "1ms",
                max = "1d")
        Duration slowConsumerTimeout) {

    /**
     * Checks the values.
     *
     * @throws ConfigurationException if one is missing or out of its range
     */
    public LimitsConfig {
        Check.range("limits.max-connections", maxConnections, 1, 100_000_000);
        Check.range("limits.max-pending-connections", maxPendingConnections, 1, 1_000_000);
        Check.range("limits.max-pending-connections-per-address", maxPendingConnectionsPerAddress, 1, 1_000_000);
        Check.range("limits.max-pending-bytes", maxPendingBytes, 1, 1L << 40);
        Check.range("limits.connect-rate-per-address", connectRatePerAddress, 0, 1_000_000);
        Check.range("limits.max-packet-bytes", maxPacketBytes, 16, 268_435_460);
        Check.range("limits.max-connect-bytes", maxConnectBytes, 16, 16 << 20);
        Check.range("limits.max-topic-bytes", maxTopicBytes, 1, 65_535);
        Check.range("limits.max-topic-levels", maxTopicLevels, 1, 65_535);
        Check.range("limits.max-user-properties", maxUserProperties, 0, 65_535);
        Check.range("limits.max-filters-per-subscribe", maxFiltersPerSubscribe, 1, 100_000);
        Check.range("limits.max-subscriptions-per-client", maxSubscriptionsPerClient, 1, 10_000_000);
        Check.range("limits.max-in-flight", maxInFlight, 1, 65_535);
        Check.range("limits.receive-maximum", receiveMaximum, 1, 65_535);
        Check.range("limits.max-awaiting-release", maxAwaitingRelease, 1, 65_535);
        Check.range("limits.max-queued-messages", maxQueuedMessages, 1, 100_000_000);
        Check.range("limits.max-queued-bytes", maxQueuedBytes, 1, 1L << 40);
        Check.range("limits.max-total-queued-bytes", maxTotalQueuedBytes, 1, 1L << 40);
        Check.range("limits.max-retained-messages", maxRetainedMessages, 0, 100_000_000);
        Check.range("limits.max-retained-bytes", maxRetainedBytes, 0, 1L << 40);
        Check.range("limits.max-sessions", maxSessions, 1, 100_000_000);
        Check.range("limits.max-sessions-per-user", maxSessionsPerUser, 0, 100_000_000);
        Check.range("limits.max-session-bytes", maxSessionBytes, 1_024, 1 << 30);
        Check.range("limits.max-user-session-bytes", maxUserSessionBytes, 1_024, 1L << 40);
        Check.range("limits.max-total-session-bytes", maxTotalSessionBytes, 1_024, 1L << 40);
        Check.range("limits.max-publish-rate", maxPublishRate, 0, 100_000_000);
        Check.range("limits.max-outbound-bytes", maxOutboundBytes, 1, 1 << 30);
        Check.range("limits.slow-consumer-timeout", slowConsumerTimeout, Duration.ofMillis(1), Duration.ofDays(1));
    }

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static LimitsConfig defaults() {
        return new LimitsConfig(
                1_000_000,
                pendingConnections(),
                Math.min(1_000, pendingConnections() / 8),
                percentOfHeapBytes(5),
                0,
                1 << 20,
                64 << 10,
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
                percentOfHeapBytes(25),
                1_000_000,
                percentOfHeapBytes(25),
                1_000_000,
                0,
                Math.min(1 << 30, percentOfHeapBytes(2)),
                percentOfHeapBytes(15),
                percentOfHeapBytes(25),
                0,
                1 << 20,
                Duration.ofSeconds(60));
    }

    /**
     * Begins with the defaults.
     *
     * @return a builder, for one thread
     */
    public static Builder builder() {
        return defaults().toBuilder();
    }

    /**
     * The part of {@link #maxPendingBytes()} that one address may hold on several connections: the part of the pending
     * connections that it may have.
     *
     * @return bytes
     */
    public long maxPendingBytesPerAddress() {
        double share = (double) maxPendingConnectionsPerAddress / maxPendingConnections;
        return share >= 1 ? maxPendingBytes : Math.max(1, (long) (maxPendingBytes * share));
    }

    private static long percentOfHeapBytes(int percent) {
        return Runtime.getRuntime().maxMemory() * percent / 100;
    }

    /** A TLS handshake that is not complete takes some ten kilobytes of heap. */
    private static int pendingConnections() {
        return (int) Math.max(100, Math.min(5_000, Runtime.getRuntime().maxMemory() >> 17));
    }

    /**
     * Begins with these values.
     *
     * @return a builder, for one thread
     */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** Collects values for a new {@link LimitsConfig}. Not safe for several threads. */
    public static final class Builder {

        private int maxConnections;
        private int maxPendingConnections;
        private int maxPendingConnectionsPerAddress;
        private long maxPendingBytes;
        private int connectRatePerAddress;
        private int maxPacketBytes;
        private int maxConnectBytes;
        private int maxTopicBytes;
        private int maxTopicLevels;
        private int maxUserProperties;
        private int maxFiltersPerSubscribe;
        private int maxSubscriptionsPerClient;
        private int maxInFlight;
        private int receiveMaximum;
        private int maxAwaitingRelease;
        private int maxQueuedMessages;
        private long maxQueuedBytes;
        private long maxTotalQueuedBytes;
        private int maxRetainedMessages;
        private long maxRetainedBytes;
        private int maxSessions;
        private int maxSessionsPerUser;
        private long maxSessionBytes;
        private long maxUserSessionBytes;
        private long maxTotalSessionBytes;
        private int maxPublishRate;
        private int maxOutboundBytes;
        private Duration slowConsumerTimeout;

        private Builder(LimitsConfig from) {
            maxConnections = from.maxConnections;
            maxPendingConnections = from.maxPendingConnections;
            maxPendingConnectionsPerAddress = from.maxPendingConnectionsPerAddress;
            maxPendingBytes = from.maxPendingBytes;
            connectRatePerAddress = from.connectRatePerAddress;
            maxPacketBytes = from.maxPacketBytes;
            maxConnectBytes = from.maxConnectBytes;
            maxTopicBytes = from.maxTopicBytes;
            maxTopicLevels = from.maxTopicLevels;
            maxUserProperties = from.maxUserProperties;
            maxFiltersPerSubscribe = from.maxFiltersPerSubscribe;
            maxSubscriptionsPerClient = from.maxSubscriptionsPerClient;
            maxInFlight = from.maxInFlight;
            receiveMaximum = from.receiveMaximum;
            maxAwaitingRelease = from.maxAwaitingRelease;
            maxQueuedMessages = from.maxQueuedMessages;
            maxQueuedBytes = from.maxQueuedBytes;
            maxTotalQueuedBytes = from.maxTotalQueuedBytes;
            maxRetainedMessages = from.maxRetainedMessages;
            maxRetainedBytes = from.maxRetainedBytes;
            maxSessions = from.maxSessions;
            maxSessionsPerUser = from.maxSessionsPerUser;
            maxSessionBytes = from.maxSessionBytes;
            maxUserSessionBytes = from.maxUserSessionBytes;
            maxTotalSessionBytes = from.maxTotalSessionBytes;
            maxPublishRate = from.maxPublishRate;
            maxOutboundBytes = from.maxOutboundBytes;
            slowConsumerTimeout = from.slowConsumerTimeout;
        }

        /** {@return this, with {@link LimitsConfig#maxConnections()} set to the argument} */
        public Builder maxConnections(int value) {
            maxConnections = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxPendingConnections()} set to the argument} */
        public Builder maxPendingConnections(int value) {
            maxPendingConnections = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxPendingConnectionsPerAddress()} set to the argument} */
        public Builder maxPendingConnectionsPerAddress(int value) {
            maxPendingConnectionsPerAddress = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxPendingBytes()} set to the argument} */
        public Builder maxPendingBytes(long value) {
            maxPendingBytes = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#connectRatePerAddress()} set to the argument} */
        public Builder connectRatePerAddress(int value) {
            connectRatePerAddress = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxPacketBytes()} set to the argument} */
        public Builder maxPacketBytes(int value) {
            maxPacketBytes = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxConnectBytes()} set to the argument} */
        public Builder maxConnectBytes(int value) {
            maxConnectBytes = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxTopicBytes()} set to the argument} */
        public Builder maxTopicBytes(int value) {
            maxTopicBytes = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxTopicLevels()} set to the argument} */
        public Builder maxTopicLevels(int value) {
            maxTopicLevels = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxUserProperties()} set to the argument} */
        public Builder maxUserProperties(int value) {
            maxUserProperties = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxFiltersPerSubscribe()} set to the argument} */
        public Builder maxFiltersPerSubscribe(int value) {
            maxFiltersPerSubscribe = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxSubscriptionsPerClient()} set to the argument} */
        public Builder maxSubscriptionsPerClient(int value) {
            maxSubscriptionsPerClient = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxInFlight()} set to the argument} */
        public Builder maxInFlight(int value) {
            maxInFlight = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#receiveMaximum()} set to the argument} */
        public Builder receiveMaximum(int value) {
            receiveMaximum = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxAwaitingRelease()} set to the argument} */
        public Builder maxAwaitingRelease(int value) {
            maxAwaitingRelease = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxQueuedMessages()} set to the argument} */
        public Builder maxQueuedMessages(int value) {
            maxQueuedMessages = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxQueuedBytes()} set to the argument} */
        public Builder maxQueuedBytes(long value) {
            maxQueuedBytes = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxTotalQueuedBytes()} set to the argument} */
        public Builder maxTotalQueuedBytes(long value) {
            maxTotalQueuedBytes = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxRetainedMessages()} set to the argument} */
        public Builder maxRetainedMessages(int value) {
            maxRetainedMessages = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxRetainedBytes()} set to the argument} */
        public Builder maxRetainedBytes(long value) {
            maxRetainedBytes = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxSessions()} set to the argument} */
        public Builder maxSessions(int value) {
            maxSessions = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxSessionsPerUser()} set to the argument} */
        public Builder maxSessionsPerUser(int value) {
            maxSessionsPerUser = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxSessionBytes()} set to the argument} */
        public Builder maxSessionBytes(long value) {
            maxSessionBytes = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxUserSessionBytes()} set to the argument} */
        public Builder maxUserSessionBytes(long value) {
            maxUserSessionBytes = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxTotalSessionBytes()} set to the argument} */
        public Builder maxTotalSessionBytes(long value) {
            maxTotalSessionBytes = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxPublishRate()} set to the argument} */
        public Builder maxPublishRate(int value) {
            maxPublishRate = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#maxOutboundBytes()} set to the argument} */
        public Builder maxOutboundBytes(int value) {
            maxOutboundBytes = value;
            return this;
        }

        /** {@return this, with {@link LimitsConfig#slowConsumerTimeout()} set to the argument} */
        public Builder slowConsumerTimeout(Duration value) {
            slowConsumerTimeout = value;
            return this;
        }

        /**
         * Makes the configuration.
         *
         * @return a new one
         * @throws ConfigurationException if a value is out of its range
         */
        public LimitsConfig build() {
            return new LimitsConfig(
                    maxConnections,
                    maxPendingConnections,
                    maxPendingConnectionsPerAddress,
                    maxPendingBytes,
                    connectRatePerAddress,
                    maxPacketBytes,
                    maxConnectBytes,
                    maxTopicBytes,
                    maxTopicLevels,
                    maxUserProperties,
                    maxFiltersPerSubscribe,
                    maxSubscriptionsPerClient,
                    maxInFlight,
                    receiveMaximum,
                    maxAwaitingRelease,
                    maxQueuedMessages,
                    maxQueuedBytes,
                    maxTotalQueuedBytes,
                    maxRetainedMessages,
                    maxRetainedBytes,
                    maxSessions,
                    maxSessionsPerUser,
                    maxSessionBytes,
                    maxUserSessionBytes,
                    maxTotalSessionBytes,
                    maxPublishRate,
                    maxOutboundBytes,
                    slowConsumerTimeout);
        }
    }
}
