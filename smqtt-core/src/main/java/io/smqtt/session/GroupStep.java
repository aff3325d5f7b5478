// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

/** Store operations of a {@link GroupQueue} on its own event loop. None is submitted again. */
enum GroupStep implements StoreStep<GroupQueue> {

    /** Adds a waiting message; its number and bytes. */
    APPENDED,

    /** Adds a returned message; its number. */
    RETURNED;

    @Override
    public boolean completed(GroupQueue queue, long value, int bytes, boolean kept) {
        if (!kept) {
            switch (this) {
                case APPENDED -> queue.appendFailed(value, bytes);
                case RETURNED -> queue.notStored(value);
            }
        }
        return false;
    }

    @Override
    public void retry(GroupQueue queue, long value) {
        throw new IllegalStateException(this + " is not submitted again");
    }
}
