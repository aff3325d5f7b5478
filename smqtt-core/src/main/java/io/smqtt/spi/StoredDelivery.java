// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/**
 * The delivery state of a stored message.
 *
 * @param state the state
 * @param packetId 1 to 65,535; 0 if it is not sent yet
 */
public record StoredDelivery(State state, int packetId) {

    /** Not sent yet. */
    public static final StoredDelivery WAITING = new StoredDelivery(State.WAITING, 0);

    /** The states of a delivery (MQTT 5.0, section 4.3). */
    public enum State {
        /** Not sent yet. */
        WAITING,
        /** Sent, without PUBACK or PUBREC. */
        SENT,
        /** QoS 2: PUBREC was received, PUBCOMP was not; the message itself is no longer needed. */
        RECEIVED
    }
}
