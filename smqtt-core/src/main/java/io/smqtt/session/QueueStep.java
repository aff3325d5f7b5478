// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

/** Store operations of a {@link DurableQueue}. Their value is the number of a message, or its sequence number in the window. */
enum QueueStep implements StoreStep<DurableQueue> {

    /** Adds a message that has to wait; its number and bytes. */
    WAITING_APPENDED(false),

    /** Adds a message that is sent at QoS 1; its number. */
    APPENDED(false),

    /** Adds a message that is sent at QoS 2; its sequence number. */
    SENT_APPENDED(true),

    /** Records that a waiting message is sent; its sequence number. */
    SENT_WRITTEN(true),

    /** Records a PUBREC; the sequence number. */
    RECEIVED_WRITTEN(true),

    /** Removes a message; its number. */
    REMOVED(false);

    private final boolean wantsSuccess;

    QueueStep(boolean wantsSuccess) {
        this.wantsSuccess = wantsSuccess;
    }

    @Override
    public boolean completed(DurableQueue queue, long value, int bytes, boolean kept) {
        return (wantsSuccess || !kept) && queue.completed(this, value, bytes, kept);
    }

    @Override
    public void retry(DurableQueue queue, long value) {
        queue.retry(this, value);
    }
}
