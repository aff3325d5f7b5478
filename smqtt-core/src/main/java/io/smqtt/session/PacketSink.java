// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.Subscription;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/** The interface through which a session writes to its connection. On the session's event loop. */
@OnEventLoop
public interface PacketSink {

    /**
     * Returns whether the connection is writable.
     *
     * @return false while too many bytes wait in its outbound buffer
     */
    boolean isWritable();

    /**
     * The maximum number of unacknowledged QoS 1 and 2 messages, by the client's and the broker's limits.
     *
     * @return at least 1
     */
    int sendMaximum();

    /**
     * The keep alive in force.
     *
     * @return seconds; 0 for none
     */
    default int keepAliveSeconds() {
        return 0;
    }

    /**
     * The time of the CONNECT, which never changes.
     *
     * @return milliseconds since 1970; 0 if it is not known
     */
    @AnyThread
    default long connectedAtMillis() {
        return 0;
    }

    /**
     * Whether the client has asked for a new session.
     *
     * @return the Clean Start flag of the CONNECT, which never changes
     */
    @AnyThread
    default boolean cleanStart() {
        return false;
    }

    /**
     * The front node by which the client has come, which never changes.
     *
     * @return its node-id; null if the client is connected to this node
     */
    @AnyThread
    default @Nullable String front() {
        return null;
    }

    /**
     * Writes a PUBLISH.
     *
     * @param message the message
     * @param subscription whose options and identifiers apply
     * @param qos the delivery's quality of service
     * @param retain the retain flag of the packet
     * @param packetId the packet identifier, 0 at QoS 0
     * @param duplicate the DUP flag
     * @return false if the packet is larger than the client accepts: nothing was written [MQTT-3.1.2-25]
     */
    boolean publish(
            ApplicationMessage message,
            Subscription subscription,
            QoS qos,
            boolean retain,
            int packetId,
            boolean duplicate);

    /**
     * Writes a PUBREL.
     *
     * @param packetId the packet identifier
     */
    void pubRel(int packetId);

    /**
     * Closes the connection, with a DISCONNECT for an MQTT 5.0 client.
     *
     * @param reason the reason code of the DISCONNECT
     */
    void disconnect(ReasonCode reason);
}
