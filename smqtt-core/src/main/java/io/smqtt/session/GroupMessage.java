// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.thread.OnEventLoop;

/**
 * A message of a shared group: it waits in the group's queue, or is assigned to one member.
 *
 * @param group the group
 * @param message the message
 * @param number its place in the queue
 * @param record the group's number in the store at that time, or 0 if the message is not stored
 */
record GroupMessage(MessageGroup group, ApplicationMessage message, long number, long record) {

    /** Whether it is stored, under the group's number. */
    boolean isStored() {
        return record != 0;
    }

    /** The message when it could not be stored. */
    GroupMessage unstored() {
        return new GroupMessage(group, message, number, 0);
    }

    int bytes() {
        return message.footprintBytes();
    }

    /**
     * Removes the message from the store, with retries: it is finished.
     *
     * @param loop the writes of the current event loop
     */
    @OnEventLoop
    void settle(StoreLoop loop) {
        loop.writer().removeMessage(record, number);
        loop.watch(new Removal(loop, this));
    }

    /** Retries the removal of a message until the store has committed it. */
    private record Removal(StoreLoop loop, GroupMessage entry) implements StoreWaiter {

        @Override
        public boolean completed(boolean kept) {
            return !kept;
        }

        @Override
        public void retry() {
            if (!entry.group.hasEnded()) {
                entry.settle(loop);
            }
        }
    }
}
