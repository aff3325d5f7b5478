// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.AnyThread;
import java.net.InetSocketAddress;
import java.util.Set;

/**
 * Names of publishers and consumers in the broker's own process. They share the namespace of client identifiers, and no
 * client may have one: a CONNECT with such a name is refused. Access rules do not apply to them.
 */
@AnyThread
public final class InProcess {

    /** The prefix of these names. */
    public static final String PREFIX = "$in-process/";

    /** The prefix of the names of bridges that this broker has opened. */
    public static final String BRIDGE_PREFIX = "$bridge/";

    /** The prefix of the names of bridges that each node of a cluster has for itself. */
    public static final String LOCAL_BRIDGE_PREFIX = BRIDGE_PREFIX + "local/";

    /** What stands between {@link #PREFIX} and the name of a consumer that gets the messages of its own node only. */
    public static final String LOCAL = "local/";

    private static final String LOCAL_PREFIX = PREFIX + LOCAL;

    private static final InetSocketAddress HERE = InetSocketAddress.createUnresolved("in-process", 0);
    private static final String NO_LISTENER = "";

    private InProcess() {}

    /** The default limit of a consumer's queue, in messages. */
    public static final int QUEUED_MESSAGES = 100_000;

    /** The default limit of a consumer's queue, in bytes. */
    public static final long QUEUED_BYTES = 64L << 20;

    /** The default limits of a consumer's queue. */
    static LimitsConfig limits(LimitsConfig ofClients) {
        return limits(ofClients, QUEUED_MESSAGES, QUEUED_BYTES);
    }

    /**
     * The default limit, in bytes, of a consumer's queue in memory.
     *
     * @param ofClients the limits of the broker
     * @return a quarter of the limit of all queues together, at most {@link #QUEUED_BYTES}
     */
    public static long queuedBytes(LimitsConfig ofClients) {
        return Math.min(QUEUED_BYTES, Math.max(1, ofClients.maxTotalQueuedBytes() / 4));
    }

    /**
     * The limits of a consumer.
     *
     * @param ofClients the limits apart from those of the queue
     * @param messages the maximum number of queued messages
     * @param bytes the maximum number of queued bytes
     * @return limits with those of the queue
     */
    public static LimitsConfig limits(LimitsConfig ofClients, int messages, long bytes) {
        return ofClients.toBuilder()
                .maxQueuedMessages(messages)
                .maxQueuedBytes(bytes)
                .build();
    }

    /**
     * Returns whether a name is reserved and not allowed for clients.
     *
     * @param clientId a client identifier
     * @return true if it begins with {@link #PREFIX}
     */
    public static boolean isReserved(String clientId) {
        return clientId.startsWith(PREFIX);
    }

    /**
     * Returns whether no client may connect with a name.
     *
     * @param clientId a client identifier
     * @return true if it begins with {@link #PREFIX} or {@link #BRIDGE_PREFIX}
     */
    public static boolean isClosedToClients(String clientId) {
        return isReserved(clientId) || clientId.startsWith(BRIDGE_PREFIX);
    }

    /**
     * The name of a connection of a bridge.
     *
     * @param name its name, that of the bridge in the configuration if there is one connection
     * @param each whether each node of a cluster has it for itself
     * @return its client identifier at this broker
     */
    public static String bridge(String name, boolean each) {
        return (each ? LOCAL_BRIDGE_PREFIX : BRIDGE_PREFIX) + name;
    }

    /**
     * Returns whether the owner of a name belongs to its node alone: it gets only messages that were published to this node, its
     * subscriptions are not announced to other nodes, and other nodes can have the same name.
     *
     * @param clientId a client identifier
     * @return true for the names of local bridges and local consumers
     */
    public static boolean isLocalOnly(String clientId) {
        return clientId.startsWith(LOCAL_BRIDGE_PREFIX) || clientId.startsWith(LOCAL_PREFIX);
    }

    /**
     * The identity of a publisher or consumer in this process.
     *
     * @param name the name without {@link #PREFIX}
     * @return an identity without a user and without an address
     */
    public static ClientIdentity identity(String name) {
        return new ClientIdentity(PREFIX + name, null, HERE, NO_LISTENER, ProtocolVersion.MQTT_5, Set.of());
    }
}
