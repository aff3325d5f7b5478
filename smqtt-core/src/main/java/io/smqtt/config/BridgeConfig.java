// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicName;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A connection that this broker opens to another one: {@code smqtt.bridges.<name>.*}. Immutable.
 *
 * @param addresses the other broker: host:port, or a URL that begins with {@code mqtt://}, {@code mqtts://}, {@code ws://} or {@code wss://};
 *     with several, the next one is tried when one fails
 * @param roundRobin whether all addresses are equal; false returns to the first one as soon as it answers again, for which it is tried while the
 *     bridge is connected to another one
 * @param clientId the client identifier at the other broker; by default the name of this machine, a dot, and the name of the bridge
 * @param username the user name at the other broker
 * @param passwordFile the file whose first line is the password
 * @param localUser the user of this broker whose access rights the bridge has here, without a password; by default it may do everything that clients
 *     may
 * @param version the protocol version: 5 or 3.1.1
 * @param tryPrivate whether the bridge bit is set with version 3.1.1, by which the other broker leaves out the messages of the bridge itself;
 *     a broker that refuses it is asked again without it
 * @param cleanStart whether the other broker begins a new session at each connect
 * @param sessionExpiry with version 5, the time for which the other broker keeps the session after the connection; the longest one is for ever.
 *     Without effect with {@code clean-start}
 * @param receiveMaximum with version 5, the most messages above QoS 0 that the other broker has in flight; 0 for those that this broker takes
 * @param keepAlive the interval of PINGREQ; the connection ends when no answer comes within it
 * @param tls TLS; null for the defaults of addresses with {@code mqtts://} and {@code wss://}, and no TLS for those without a scheme
 * @param topics what is forwarded, each as {@code filter direction qos local-prefix remote-prefix}, of which only the filter is required, or as
 *     {@code filter direction qos => name} with a name of which {@code ${topic}} and {@code $1} to {@code $9} are parts
 * @param connectTimeout maximum time of each step: the TCP connection, the handshakes of TLS and WebSocket, the answer to CONNECT
 * @param bindAddress the address of this machine from which the connections come; by default the operating system chooses it
 * @param tcpKeepAliveIdle the time without data after which TCP asks whether the other broker is still there; 0 for the setting of the operating system
 * @param tcpKeepAliveInterval the time between such questions; 0 for the setting of the operating system
 * @param tcpKeepAliveCount the number of questions without an answer after which the connection ends; 0 for the setting of the operating system
 * @param tcpUserTimeout the longest time for which data may be unacknowledged by TCP, with event loops on epoll; 0 for the setting of the operating
 *     system
 * @param minDelay time after which the first attempt is repeated, up to a half shorter at random; it doubles with each attempt that fails
 * @param maxDelay the longest such time
 * @param quotaTimeout how long a message that the other broker refuses with reason 0x97 (quota exceeded) is sent again, while others wait
 *     behind it; 0 for a refusal that is final. Needs version 5
 * @param maxQueuedMessages maximum number of messages queued for the other broker
 * @param maxQueuedBytes maximum size of that queue
 * @param dropPolicy which message is dropped when that queue is full
 * @param queueQos0 whether messages of QoS 0 wait in that queue while the bridge is not connected
 * @param maxPayloadBytes the largest payload that is forwarded, in either direction; 0 for no limit
 * @param maxPacketBytes the largest packet for the other broker, which may allow less; 0 for no limit
 * @param outgoingRetain whether messages for the other broker keep their retain flag
 * @param maxRate maximum number of messages per second to the other broker; 0 for no limit. Messages of QoS 0 that would wait for more than a
 *     second are dropped
 * @param connections number of connections, each with its part of the topics by a hash, of the queue, and of {@code max-rate}; more than one where
 *     the Receive Maximum of the other broker and a long round trip limit one. What comes in does so by the first one
 * @param start when the bridge connects: {@code automatic} when the broker starts; {@code lazy} when {@code threshold} messages wait, those of QoS 0
 *     included; {@code once} when the broker starts, without another attempt when that fails or the connection ends; or {@code manual} when an
 *     operator starts it. Messages wait in all cases
 * @param threshold with {@code start: lazy}, the number of waiting messages from which on the bridge connects
 * @param idleTimeout with {@code start: lazy}, the time without a message after which the connection ends
 * @param notifications where the state of the connection is published, retained: nowhere, at this broker, or at both
 * @param notificationTopic the topic of that state; by default {@code $SYS/broker/connection/<client-id>/state}. {@code ${clientid}} in it is the
 *     client identifier at the other broker
 * @param nodes which nodes of a cluster connect it: {@code one}, chosen among those that can be reached, another one when it fails; or {@code each},
 *     with the node's name appended to the client identifier, the messages of its own clients, and a share of what comes in
 * @param hopLimit the most bridges that a message passes, with version 5: each broker adds its name to the user property {@code smqtt-hops},
 *     and a message that comes back is dropped; 0 to neither count nor check
 */
@ConfigBlock("bridges.<name>")
public record BridgeConfig(
        @Setting(required = true) List<String> addresses,
        @Setting("true") boolean roundRobin,
        String clientId,
        String username,
        @Nullable Path passwordFile,
        String localUser,
        @Setting("5") String version,
        @Setting("true") boolean tryPrivate,
        @Setting("false") boolean cleanStart,

        @Setting(value = "4294967295s", min = "0s", max = "4294967295s")
        Duration sessionExpiry,

        @Setting(value = "0", min = "0", max = "65535") int receiveMaximum,
        @Setting(value = "1m", min = "1s", max = "65535s") Duration keepAlive,
        @Nullable BridgeTlsConfig tls,
        @Setting(required = true) List<String> topics,
        @Setting(value = "10s", min = "100ms", max = "10m") Duration connectTimeout,
        String bindAddress,
        @Setting(value = "0s", min = "0s", max = "32767s") Duration tcpKeepAliveIdle,
        @Setting(value = "0s", min = "0s", max = "32767s") Duration tcpKeepAliveInterval,
        @Setting(value = "0", min = "0", max = "127") int tcpKeepAliveCount,
        @Setting(value = "0s", min = "0s", max = "1d") Duration tcpUserTimeout,
        @Setting(value = "1s", min = "10ms", max = "1h") Duration minDelay,
        @Setting(value = "30s", min = "10ms", max = "1d") Duration maxDelay,
        @Setting(value = "1h", min = "0s", max = "30d") Duration quotaTimeout,

        @Setting(value = "100000", min = "1", max = "100000000")
        int maxQueuedMessages,

        @Setting(value = "64MiB", min = "1", max = "1TiB") long maxQueuedBytes,
        @Setting("oldest") DropPolicy dropPolicy,
        @Setting("false") boolean queueQos0,

        @Setting(value = "0", min = "0", max = "256MiB") long maxPayloadBytes,

        @Setting(value = "0", min = "0", max = "256MiB") long maxPacketBytes,

        @Setting("true") boolean outgoingRetain,
        @Setting(value = "0", min = "0", max = "10000000") int maxRate,

        @Setting(value = "1", min = "1", max = "64") int connections,
        @Setting("automatic") Start start,

        @Setting(value = "10", min = "1", max = "100000000") int threshold,

        @Setting(value = "1m", min = "1s", max = "30d") Duration idleTimeout,
        @Setting("local") Notifications notifications,
        String notificationTopic,
        @Setting("one") Nodes nodes,
        @Setting(value = "8", min = "0", max = "64") int hopLimit) {

    /** The time of the first attempt to connect. */
    public enum Start {
        /** The start of the broker. */
        AUTOMATIC,
        /** When enough messages wait; the connection ends when none has passed for some time. */
        LAZY,
        /** The start of the broker, and never again. */
        ONCE,
        /** An operator starts the bridge. */
        MANUAL
    }

    /** The brokers at which the state of the connection is published. */
    public enum Notifications {
        /** Neither. */
        NONE,
        /** This one. */
        LOCAL,
        /** Both; the other one publishes the end of the connection as a will. */
        BOTH
    }

    private static final String BLOCK = "bridges.<name>.";
    private static final String CLIENT_ID = "${clientid}";

    /** The nodes of a cluster that connect a bridge. */
    public enum Nodes {
        /** One of them; another one when it fails. */
        ONE,
        /** Each of them. */
        EACH
    }

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if an address, the version or a topic is wrong
     */
    public BridgeConfig {
        addresses = List.copyOf(addresses);
        topics = List.copyOf(topics);
        Check.that(!addresses.isEmpty(), BLOCK + "addresses", "must be set");
        addresses.forEach(address -> BridgeAddress.parse(address, false));
        Check.that(!topics.isEmpty(), BLOCK + "topics", "must be set");
        List<BridgeTopic> parsed = topics.stream().map(BridgeTopic::parse).toList();
        Check.plainText(BLOCK + "client-id", clientId);
        Check.plainText(BLOCK + "username", username);
        Check.plainText(BLOCK + "local-user", localUser);
        Check.that(passwordFile == null || !username.isEmpty(), BLOCK + "password-file", "needs " + BLOCK + "username");
        Check.that(version.equals("5") || version.equals("3.1.1"), BLOCK + "version", "must be 5 or 3.1.1");
        if (!bindAddress.isEmpty()) {
            Check.address(BLOCK + "bind-address", bindAddress);
        }
        Check.that(minDelay.compareTo(maxDelay) <= 0, BLOCK + "min-delay", "must not be more than max-delay");
        Check.that(
                connections == 1 || parsed.stream().anyMatch(BridgeTopic::out),
                BLOCK + "connections",
                "must be 1 if no topic goes out; what comes in does so by one connection");
        if (nodes == Nodes.EACH) {
            checkEach(parsed, version);
        }
        Check.that(
                start != Start.LAZY || threshold <= maxQueuedMessages,
                BLOCK + "threshold",
                "must not be more than max-queued-messages with start: lazy");
        Check.that(
                start != Start.LAZY || parsed.stream().noneMatch(BridgeTopic::in),
                BLOCK + "start",
                "must not be lazy for topics that come in, because these wait at the other broker while the bridge is not connected");
        if (!notificationTopic.isEmpty()) {
            checkNotificationTopic(notificationTopic, connections > 1 || nodes == Nodes.EACH);
        }
    }

    private static void checkNotificationTopic(String topic, boolean several) {
        String key = BLOCK + "notification-topic";
        String sample = Check.template(key, topic, List.of("clientid")).fill(name -> "x");
        Check.plainText(key, topic);
        Check.that(
                sample != null && isPublic(sample),
                key,
                "must be a topic name, which has no wildcards and does not begin with $share/ or $smqtt/");
        Check.that(
                !several || topic.contains(CLIENT_ID),
                key,
                "must have " + CLIENT_ID
                        + " with several connections or nodes: each, because each connection has its own state");
    }

    private static boolean isPublic(String topic) {
        try {
            TopicName.of(topic);
            return !SharedFilter.isShared(topic) && !topic.startsWith("$smqtt/");
        } catch (InvalidTopicException e) {
            return false;
        }
    }

    private static void checkEach(List<BridgeTopic> topics, String version) {
        Check.that(
                topics.stream().noneMatch(topic -> topic.out() && topic.in()),
                BLOCK + "topics",
                "must be out or in, not both, with nodes: each: what one node sends would come back by another one");
        Check.that(
                version.equals("5") || topics.stream().noneMatch(BridgeTopic::in),
                BLOCK + "version",
                "must be 5 for topics that come in with nodes: each, which needs shared subscriptions");
    }

    /**
     * The name of one of the connections.
     *
     * @param bridge the name of the bridge
     * @param number the number of the connection, from 0
     * @return the name of the bridge for the first one, with a dot and 2 for the second one, and so on
     */
    public static String connectionName(String bridge, int number) {
        return number == 0 ? bridge : bridge + '.' + (number + 1);
    }

    /**
     * Whether each node of a cluster connects the bridge.
     *
     * @return false if one of them does
     */
    public boolean isEach() {
        return nodes == Nodes.EACH;
    }

    /**
     * Whether the bridge speaks MQTT 5.0.
     *
     * @return false for MQTT 3.1.1
     */
    public boolean isV5() {
        return version.equals("5");
    }

    /**
     * The topic of the state of a connection, at both brokers.
     *
     * @param connection the client identifier of the connection at the other broker
     * @return a topic name, if the client identifier has no wildcards
     */
    public String stateTopic(String connection) {
        return notificationTopic.isEmpty()
                ? "$SYS/broker/connection/" + connection + "/state"
                : notificationTopic.replace(CLIENT_ID, connection);
    }

    /**
     * The addresses of the other broker.
     *
     * @return the addresses, in the order of the configuration
     */
    public List<BridgeAddress> parsedAddresses() {
        return addresses.stream()
                .map(address -> BridgeAddress.parse(address, tls != null))
                .toList();
    }

    /**
     * What is forwarded.
     *
     * @return the topics, in the order of the configuration; the first one that fits decides
     */
    public List<BridgeTopic> parsedTopics() {
        return topics.stream().map(BridgeTopic::parse).toList();
    }

    /**
     * Creates a bridge with defaults.
     *
     * @param address host:port of the other broker
     * @param topics what is forwarded
     * @return a builder, for one thread
     */
    public static BridgeConfigBuilder builder(String address, String... topics) {
        return new BridgeConfigBuilder().addresses(List.of(address)).topics(List.of(topics));
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public BridgeConfigBuilder toBuilder() {
        return new BridgeConfigBuilder(this);
    }
}
