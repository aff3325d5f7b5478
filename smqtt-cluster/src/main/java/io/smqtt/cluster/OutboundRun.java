// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.bytes.ByteWriter;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.spi.BrokerObserver;

/**
 * Small QoS 0 messages of one iteration of an event loop to a peer, encoded at once as in the frame. No publisher waits for them, so no
 * other state is needed.
 */
final class OutboundRun extends Outbound {

    private static final int LARGEST_MESSAGE = 1024;
    private static final int OVERHEAD_BYTES = 96;

    private final byte[] blocks;
    private final int count;
    private final long payloadBytes;

    /**
     * Creates a run.
     *
     * @param blocks the encoded messages
     * @param count their number
     * @param payloadBytes the total size of their payloads
     */
    OutboundRun(byte[] blocks, int count, long payloadBytes) {
        this.blocks = blocks;
        this.count = count;
        this.payloadBytes = payloadBytes;
    }

    /** Whether a message that goes to all may be in a run. A message with an expiry interval is encoded when it is sent. */
    static boolean takes(ApplicationMessage message) {
        String publisher = message.publisherId();
        return message.qos() == QoS.AT_MOST_ONCE
                && message.footprintBytes() + (publisher == null ? 0 : publisher.length()) <= LARGEST_MESSAGE
                && message.remainingExpirySeconds(message.acceptedAtNanos()) == ApplicationMessage.NEVER;
    }

    @Override
    int count() {
        return count;
    }

    @Override
    int deliveries() {
        return count;
    }

    @Override
    int bytes() {
        return blocks.length + OVERHEAD_BYTES;
    }

    @Override
    boolean isAtMostOnce() {
        return true;
    }

    @Override
    boolean isToAll() {
        return true;
    }

    @Override
    boolean isParked() {
        return false;
    }

    @Override
    void settle(boolean success) {
        // no publisher waits
    }

    @Override
    void countDelivered(BrokerObserver observer) {
        long rest = payloadBytes;
        for (int i = count; i > 0; i--) { // the sum is their total size
            int share = (int) (rest / i);
            observer.messageDelivered(QoS.AT_MOST_ONCE, share);
            rest -= share;
        }
    }

    @Override
    void writeTo(ByteWriter target, long nowNanos) {
        target.raw(blocks, blocks.length);
    }
}
