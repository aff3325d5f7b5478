// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

/**
 * Who waits for operations of the store. One object may wait for many: the two numbers tell which of them is meant. On the
 * event loop of the {@link StoreLoop} that it waits at.
 */
interface StoreWaiter {

    /**
     * Tells what became of an operation.
     *
     * @param value as it was given
     * @param detail as it was given
     * @param kept whether it is safe; if not, it never will be
     * @return true to be asked to submit it {@link #again} in a while
     */
    boolean settled(long value, int detail, boolean kept);

    /**
     * Asks to submit an operation again, some time after it failed.
     *
     * @param value as it was given
     * @param detail as it was given
     */
    default void again(long value, int detail) {}
}
