// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

/** The operations of a {@link GroupQueue} on its own event loop. */
enum GroupStep implements StoreStep<GroupQueue> {

    /** A message that waits, by its number, with its bytes. */
    APPENDED,

    /** A message that came back, by its number. */
    RETURNED,

    /** The header of the group. */
    HEADER,

    /** The group is gone. */
    END;

    @Override
    public boolean completed(GroupQueue queue, long value, int bytes, boolean kept) {
        if (this == HEADER && kept) {
            queue.record().headerKept(value);
        } else if (this == APPENDED && !kept) {
            queue.lost(value, bytes);
        } else if (this == RETURNED && !kept) {
            queue.notStored(value);
        }
        return !kept && (this == HEADER || this == END);
    }

    @Override
    public void retry(GroupQueue queue, long value) {
        queue.record().retry(this, value);
    }
}
