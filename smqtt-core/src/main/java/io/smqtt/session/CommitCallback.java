// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.OnEventLoop;

/** Receives the outcome of a write to the store. */
@OnEventLoop
@FunctionalInterface
public interface CommitCallback {

    /**
     * Reports the outcome.
     *
     * @param kept whether the write is committed; if false, it never will be
     */
    void committed(boolean kept);
}
