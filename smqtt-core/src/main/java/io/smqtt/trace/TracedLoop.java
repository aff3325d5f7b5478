// SPDX-License-Identifier: Apache-2.0
package io.smqtt.trace;

import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** An event loop of the broker as traces see it: it keeps the running traces in a plain field. */
public interface TracedLoop {

    /**
     * Returns the event loop.
     *
     * @return runs tasks on the event loop
     */
    @AnyThread
    Executor executor();

    /**
     * Sets the traces that run now.
     *
     * @param running the traces; null if there are none
     */
    @OnEventLoop
    void traces(@Nullable RunningTraces running);
}
