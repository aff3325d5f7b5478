// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.OnEventLoop;

/** Waits for one operation of the store, and can submit it again. On the event loop of its {@link StoreLoop}. */
@OnEventLoop
interface StoreWaiter {

    /**
     * Completes the operation.
     *
     * @param kept whether it is committed; if false, it never will be
     * @return true to have {@link #retry} called after a delay
     */
    boolean completed(boolean kept);

    /** Submits the operation again, some time after the failure. */
    void retry();
}
