// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A connection that this broker opens to another one: {@code smqtt.bridges.<name>.*}. Immutable.
 *
 * @param addresses host:port of the other broker; with several, the next one is tried when one fails
 * @param clientId the client identifier at the other broker; by default the name of this machine, a dot, and the name of the bridge
 * @param username the user name at the other broker
 * @param passwordFile the file whose first line is the password
 * @param version the protocol version: 5 or 3.1.1
 * @param tryPrivate whether the bridge bit is set with version 3.1.1, by which the other broker leaves out the messages of the bridge itself;
 *     a broker that refuses it is asked again without it
 * @param cleanStart whether the other broker begins a new session at each connect
 * @param keepAlive the interval of PINGREQ; the connection ends when no answer comes within it
 * @param topics what is forwarded, each as {@code filter direction qos local-prefix remote-prefix}, of which only the filter is required
 * @param connectTimeout maximum time until the other broker has accepted the connection
 * @param minDelay time after which the first attempt is repeated, up to a half shorter at random; it doubles with each attempt that fails
 * @param maxDelay the longest such time
 * @param maxQueuedMessages maximum number of messages queued for the other broker
 * @param maxQueuedBytes maximum size of that queue
 */
@ConfigBlock("bridges.<name>")
public record BridgeConfig(
        @Setting(required = true) List<String> addresses,
        String clientId,
        String username,
        @Nullable Path passwordFile,
        @Setting("5") String version,
        @Setting("true") boolean tryPrivate,
        @Setting("false") boolean cleanStart,
        @Setting(value = "1m", min = "1s", max = "65535s") Duration keepAlive,
        @Setting(required = true) List<String> topics,
        @Setting(value = "10s", min = "100ms", max = "10m") Duration connectTimeout,
        @Setting(value = "1s", min = "10ms", max = "1h") Duration minDelay,
        @Setting(value = "30s", min = "10ms", max = "1d") Duration maxDelay,

        @Setting(value = "100000", min = "1", max = "100000000")
        int maxQueuedMessages,

        @Setting(value = "64MiB", min = "1", max = "1TiB") long maxQueuedBytes) {

    private static final String BLOCK = "bridges.<name>.";

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if an address, the version or a topic is wrong
     */
    public BridgeConfig {
        addresses = List.copyOf(addresses);
        topics = List.copyOf(topics);
        Check.that(!addresses.isEmpty(), BLOCK + "addresses", "must be set");
        addresses.forEach(address -> Check.hostAndPort(BLOCK + "addresses", address, 1));
        Check.that(!topics.isEmpty(), BLOCK + "topics", "must be set");
        topics.forEach(BridgeTopic::parse);
        Check.plainText(BLOCK + "client-id", clientId);
        Check.plainText(BLOCK + "username", username);
        Check.that(passwordFile == null || !username.isEmpty(), BLOCK + "password-file", "needs " + BLOCK + "username");
        Check.that(version.equals("5") || version.equals("3.1.1"), BLOCK + "version", "must be 5 or 3.1.1");
        Check.that(minDelay.compareTo(maxDelay) <= 0, BLOCK + "min-delay", "must not be more than max-delay");
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
