// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.spi.BrokerObserver;

/**
 * Small messages at QoS 0 that one pass of an event loop has for a peer, written at once as they will be in the frame: nobody
 * waits for them, so nothing else needs to be known of them later.
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
     * @param blocks the messages as they are in a frame
     * @param count how many they are
     * @param payloadBytes what their payloads have together
     */
    OutboundRun(byte[] blocks, int count, long payloadBytes) {
        this.blocks = blocks;
        this.count = count;
        this.payloadBytes = payloadBytes;
    }

    /** Tells whether a message that goes to all may be in a run. One that expires is written when it is sent. */
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
    void settle(boolean success) {
        // nobody waits
    }

    @Override
    void countDelivered(BrokerObserver observer) {
        long rest = payloadBytes;
        for (int i = count; i > 0; i--) { // as many bytes in all as they had
            int share = (int) (rest / i);
            observer.messageDelivered(QoS.AT_MOST_ONCE, share);
            rest -= share;
        }
    }

    @Override
    void writeTo(FrameWriter target, long nowNanos) {
        target.raw(blocks, blocks.length);
    }
}
