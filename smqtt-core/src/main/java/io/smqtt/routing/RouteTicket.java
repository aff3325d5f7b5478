// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

/**
 * What an acknowledgement to a publisher waits for. In memory nothing holds it; a durable store or a peer node does until
 * its part has reached safety.
 */
public interface RouteTicket {

    /** A ticket nobody waits for: QoS 0, or a message of the broker itself. */
    RouteTicket NONE = new RouteTicket() {
        @Override
        public void hold() {
            // nobody waits
        }

        @Override
        public void release(boolean success) {
            // nobody waits
        }
    };

    /** Delays the acknowledgement until {@link #release} is called as often. Any thread. */
    void hold();

    /**
     * Gives up one hold. Any thread.
     *
     * @param success false if the message could not be kept: the publisher gets no positive acknowledgement
     */
    void release(boolean success);
}
