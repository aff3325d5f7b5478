// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.AnyThread;
import java.net.InetSocketAddress;
import java.util.Set;

/**
 * Names of those who use the broker from its own process. They stand beside client identifiers, and no client may have one:
 * a CONNECT with such a name is refused. Access rules do not apply to them.
 */
@AnyThread
public final class InProcess {

    /** What all of these names begin with. */
    public static final String PREFIX = "$in-process/";

    private static final InetSocketAddress HERE = InetSocketAddress.createUnresolved("in-process", 0);
    private static final String NO_LISTENER = "";

    private InProcess() {}

    /** The messages that may wait for a consumer unless it says otherwise. */
    public static final int QUEUED_MESSAGES = 100_000;

    /** The bytes that may wait for a consumer unless it says otherwise. */
    public static final long QUEUED_BYTES = 64L << 20;

    /** The limits of a queue that wait for a consumer which has not said otherwise. */
    static LimitsConfig limits(LimitsConfig ofClients) {
        return limits(ofClients, QUEUED_MESSAGES, QUEUED_BYTES);
    }

    /**
     * The bytes that may wait in memory for a consumer unless it says otherwise.
     *
     * @param ofClients the limits of the broker
     * @return a quarter of what all queues together may hold, if that is less than {@link #QUEUED_BYTES}
     */
    public static long queuedBytes(LimitsConfig ofClients) {
        return Math.min(QUEUED_BYTES, Math.max(1, ofClients.maxTotalQueuedBytes() / 4));
    }

    /**
     * The limits of a consumer.
     *
     * @param ofClients what applies but for the queue
     * @param messages that may wait
     * @param bytes that may wait
     * @return limits with those of the queue
     */
    public static LimitsConfig limits(LimitsConfig ofClients, int messages, long bytes) {
        return ofClients.toBuilder()
                .maxQueuedMessages(messages)
                .maxQueuedBytes(bytes)
                .build();
    }

    /**
     * Tells whether a name is none that a client may have.
     *
     * @param clientId a client identifier
     * @return true if it begins with {@link #PREFIX}
     */
    public static boolean isReserved(String clientId) {
        return clientId.startsWith(PREFIX);
    }

    /**
     * Who somebody in this process is.
     *
     * @param name the name without {@link #PREFIX}
     * @return an identity without a user and without an address
     */
    public static ClientIdentity identity(String name) {
        return new ClientIdentity(PREFIX + name, null, HERE, NO_LISTENER, ProtocolVersion.MQTT_5, Set.of());
    }
}
