// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

/** The operations of a {@link DurableQueue}. Their value is the number of a message, or its place in the window. */
enum QueueStep implements StoreStep<DurableQueue> {

    /** A message that has to wait, by its number, with its bytes. */
    WAITING_APPENDED(false),

    /** A message that is sent at QoS 1, by its number. */
    APPENDED(false),

    /** A message that is sent at QoS 2, by its place in the window. */
    SENT_APPENDED(true),

    /** A message that waited is sent, by its place in the window. */
    SENT_WRITTEN(true),

    /** A PUBREC has come, by the place in the window. */
    RECEIVED_WRITTEN(true),

    /** A message is removed, by its number. */
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
