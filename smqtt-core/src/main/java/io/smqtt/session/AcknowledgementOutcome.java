// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

/** The effect of a client's acknowledgement on its session (MQTT 5.0, section 4.3). */
public enum AcknowledgementOutcome {
    /** The next step of the delivery with its packet identifier, or a repeated PUBREC. */
    EXPECTED,
    /** No delivery that was sent over this connection has its packet identifier. */
    UNKNOWN,
    /**
     * The delivery with its packet identifier awaits another packet: a PUBREC or PUBCOMP came at QoS 1, a PUBACK at QoS 2,
     * or a PUBCOMP before the PUBREC. A protocol error; the delivery is in flight as before.
     */
    WRONG_STEP
}
