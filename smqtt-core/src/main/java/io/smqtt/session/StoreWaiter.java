// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.OnEventLoop;

/** Waits for one operation of the store, and can submit it again. On the event loop of the {@link StoreLoop} that it waits at. */
@OnEventLoop
interface StoreWaiter {

    /**
     * The operation is complete.
     *
     * @param kept whether it is safe; if not, it never will be
     * @return true to be asked to {@link #retry} in a while
     */
    boolean completed(boolean kept);

    /** Submits the operation again, some time after it failed. */
    void retry();
}
