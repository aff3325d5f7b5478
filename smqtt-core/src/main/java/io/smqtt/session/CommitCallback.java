// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.OnEventLoop;

/** Is told what became of what a session has stored. */
@OnEventLoop
@FunctionalInterface
public interface CommitCallback {

    /**
     * Tells the outcome.
     *
     * @param kept whether it is safe; if not, it never will be
     */
    void committed(boolean kept);
}
