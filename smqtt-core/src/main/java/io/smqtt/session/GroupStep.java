// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

/** Store operations of a {@link GroupQueue} on its own event loop. */
enum GroupStep implements StoreStep<GroupQueue> {

    /** Adds a waiting message; its number and bytes. */
    APPENDED,

    /** Adds a returned message; its number. */
    RETURNED,

    /** Writes the header of the group. */
    HEADER,

    /** Removes the group. */
    END;

    @Override
    public boolean completed(GroupQueue queue, long value, int bytes, boolean kept) {
        if (this == HEADER && kept) {
            queue.record().headerKept(value);
        } else if (this == APPENDED && !kept) {
            queue.appendFailed(value, bytes);
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
