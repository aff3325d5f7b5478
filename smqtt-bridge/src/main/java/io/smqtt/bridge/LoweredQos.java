// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.smqtt.thread.OnEventLoop;
import java.util.BitSet;

/**
 * Takes the place of the other broker in the flows that its Maximum QoS excludes: a message of QoS 2 goes out with QoS 1 or 0, and our
 * session gets the acknowledgements that end its own flow.
 */
@OnEventLoop
final class LoweredQos {

    private final int maximum;
    private final BitSet awaitingPubAck = new BitSet();

    LoweredQos(int maximum) {
        this.maximum = maximum;
    }

    /**
     * A message was sent, with a lower QoS if its own one is above the maximum.
     *
     * @param qos of our session, above 0
     * @param answers takes the answer to our session, if it is due now
     */
    void sent(int qos, int packetId, ByteBuf answers) {
        if (isAsItIs(qos)) {
            awaitingPubAck.clear(packetId); // of a message that was given up
        } else if (maximum == 0) {
            Packets.acknowledge(answers, qos == 1 ? Packets.PUBACK : Packets.PUBREC, packetId, 0);
        } else {
            awaitingPubAck.set(packetId);
        }
    }

    /** Whether messages of a QoS go out with it. */
    boolean isAsItIs(int qos) {
        return qos <= maximum;
    }

    /** Answers a PUBREL of our session; false if it is for the other broker. */
    boolean released(int packetId, ByteBuf answers) {
        if (maximum < 2) {
            Packets.acknowledge(answers, Packets.PUBCOMP, packetId, 0);
        }
        return maximum < 2;
    }

    /** Turns a PUBACK of the other broker into a PUBREC for our session; false if our session expects the PUBACK. */
    boolean acknowledged(int packetId, int reason, ByteBuf passed) {
        if (!awaitingPubAck.get(packetId)) {
            return false;
        }
        awaitingPubAck.clear(packetId);
        Packets.acknowledge(passed, Packets.PUBREC, packetId, reason);
        return true;
    }
}
