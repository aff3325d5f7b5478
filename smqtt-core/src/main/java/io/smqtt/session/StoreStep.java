// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.OnEventLoop;

/**
 * A kind of operation that an owner submits to the store repeatedly. It has no state, so that waiting allocates nothing:
 * the {@link StoreLoop} keeps the owner and two numbers for each operation. On that loop.
 *
 * @param <T> the owner
 */
@OnEventLoop
interface StoreStep<T> {

    /**
     * Completes an operation.
     *
     * @param owner the submitter
     * @param value the submitted value
     * @param bytes the submitted size
     * @param kept whether it is committed; if false, it never will be
     * @return true to have {@link #retry} called after a delay
     */
    boolean completed(T owner, long value, int bytes, boolean kept);

    /**
     * Submits a failed operation again, some time after the failure.
     *
     * @param owner the submitter
     * @param value the submitted value
     */
    void retry(T owner, long value);
}
