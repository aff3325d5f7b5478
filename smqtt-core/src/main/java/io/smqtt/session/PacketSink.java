// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.Subscription;
import io.smqtt.thread.OnEventLoop;

/** The port through which a session writes to its connection. All calls on the session's event loop. */
@OnEventLoop
public interface PacketSink {

    /**
     * Tells whether the client takes what is written to it.
     *
     * @return false while too much waits in its socket
     */
    boolean isWritable();

    /**
     * How many unacknowledged QoS 1 and 2 messages the client and the broker allow at once.
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
     * Ends the connection, telling an MQTT 5.0 client why.
     *
     * @param reason the reason code of the DISCONNECT
     */
    void disconnect(ReasonCode reason);
}
