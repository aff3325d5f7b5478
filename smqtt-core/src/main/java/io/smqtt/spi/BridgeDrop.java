// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/** The reason why a bridge has dropped a message. */
public enum BridgeDrop {
    /** The queue of the bridge was full, or the message has expired in it. Only for the other broker. */
    QUEUE,
    /** No topic of the configuration matches, or the new name is no topic. */
    TOPIC,
    /** The packet is larger than the Maximum Packet Size of the broker for which it is. */
    PACKET_TOO_LARGE,
    /** The payload is larger than {@code max-payload-bytes}. */
    PAYLOAD_TOO_LARGE,
    /** A message of QoS 0 is above {@code max-rate}. Only for the other broker. */
    RATE,
    /** The message has expired after it had left the queue. Only for the other broker. */
    EXPIRED,
    /** A message of QoS 0 was held back when the connection ended. Only for the other broker. */
    CONNECTION_ENDS,
    /** The message has been at the broker before, or has passed as many bridges as {@code hop-limit} allows. */
    LOOP;

    /**
     * Whether the messages of the other broker can be dropped for this reason, too.
     *
     * @return false if only messages for the other broker can
     */
    public boolean isOfBothDirections() {
        return switch (this) {
            case TOPIC, PACKET_TOO_LARGE, PAYLOAD_TOO_LARGE, LOOP -> true;
            case QUEUE, RATE, EXPIRED, CONNECTION_ENDS -> false;
        };
    }
}
