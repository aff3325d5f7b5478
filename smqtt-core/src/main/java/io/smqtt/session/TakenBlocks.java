// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.Arrays;

/**
 * The deliveries that the sessions of one event loop have taken, in blocks. The number of blocks is given with each delivery: it is larger while a node is
 * away whose sessions may return. Read on any thread.
 */
final class TakenBlocks {

    /** From the newest to the oldest. */
    private volatile TakenMessages[] blocks = {new TakenMessages()};

    /**
     * Records a delivery that a session has taken.
     *
     * @param most the number of blocks that may be kept, 2 or more
     */
    @OnEventLoop
    void took(long sessionKey, long deliveryId, int most) {
        if (blocks[0].isFull()) {
            begin(most);
        }
        blocks[0].took(sessionKey, deliveryId);
    }

    private void begin(int most) {
        TakenMessages[] before = blocks;
        int kept = Math.min(before.length, most - 1);
        TakenMessages[] next = new TakenMessages[kept + 1];
        System.arraycopy(before, 0, next, 1, kept);
        next[0] = new TakenMessages();
        blocks = next;
    }

    /** Whether a session has taken a delivery. */
    @AnyThread
    boolean knows(long sessionKey, long deliveryId) {
        return Arrays.stream(blocks).anyMatch(block -> block.knows(sessionKey, deliveryId));
    }

    /** The number of blocks. */
    @AnyThread
    int size() {
        return blocks.length;
    }
}
