// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.spi.BrokerObserver;
import java.util.List;

/**
 * Small messages at QoS 0 that one pass of an event loop has for a peer, written at once as they will be in the frame: nobody
 * waits for them, so nothing else needs to be known of them later.
 */
final class OutboundRun extends Outbound {

    private static final int MAXIMUM_MESSAGES = 256;
    private static final int MAXIMUM_BYTES = 16 * 1024;
    private static final int LARGEST_PAYLOAD = 1024;

    private final FrameWriter blocks = new FrameWriter(2 * 1024);
    private int count;
    private long payloadBytes;

    /** Tells whether a message that goes to all is one for a run. One that expires is written when it is sent. */
    static boolean takes(ApplicationMessage message) {
        return message.qos() == QoS.AT_MOST_ONCE
                && message.remainingExpirySeconds(message.acceptedAtNanos()) == ApplicationMessage.NEVER
                && message.payload().size() <= LARGEST_PAYLOAD;
    }

    boolean isFull() {
        return count >= MAXIMUM_MESSAGES || blocks.size() >= MAXIMUM_BYTES;
    }

    void add(ApplicationMessage message) {
        MessageCodec.writeBlock(blocks, message, true, List.of(), 0);
        count++;
        payloadBytes += message.payload().size();
    }

    @Override
    int count() {
        return count;
    }

    @Override
    int bytes() {
        return blocks.size();
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
        target.raw(blocks);
    }
}
