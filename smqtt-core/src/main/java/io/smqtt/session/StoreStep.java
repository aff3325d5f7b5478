// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.OnEventLoop;

/**
 * A kind of operation that an owner submits to the store again and again. Has no state, so that waiting allocates nothing: the
 * {@link StoreLoop} keeps the owner and two numbers for each operation. On the event loop of that.
 *
 * @param <T> the owner
 */
@OnEventLoop
interface StoreStep<T> {

    /**
     * An operation is complete.
     *
     * @param owner who submitted it
     * @param value as it was given
     * @param bytes as they were given
     * @param kept whether it is safe; if not, it never will be
     * @return true to be asked to {@link #retry} in a while
     */
    boolean completed(T owner, long value, int bytes, boolean kept);

    /**
     * Submits an operation again, some time after it failed.
     *
     * @param owner who submitted it
     * @param value as it was given
     */
    void retry(T owner, long value);
}
