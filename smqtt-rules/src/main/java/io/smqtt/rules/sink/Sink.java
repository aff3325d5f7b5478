// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import io.smqtt.thread.AnyThread;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * The place that an action of a rule writes to. At most {@code lanes} batches are sent at the same time, each after the answer to the one before
 * it in its lane. What is sent may be sent again: after a failure, a timeout, or a crash of the broker.
 */
@AnyThread
public interface Sink extends AutoCloseable {

    /**
     * Sends rows, in their order.
     *
     * @param batch at least one row, at most {@link #maxBatch()}
     * @return the result, when the rows are as safe as the sink can make them. An error is a failure of all rows: that of a
     *     {@link SinkException} says whether it may pass, any other one is taken to pass; but a row for which alone a {@link RuntimeException} of another
     *     kind comes ten times is given up. Nothing is sent before subscription; cancelling gives up. Must neither block nor throw
     */
    Mono<BatchResult> send(List<SinkRecord> batch);

    /**
     * Checks whether the sink can be reached, without changing anything there.
     *
     * @return empty if it can; otherwise an error whose message is for operators and has no secrets. Must neither block nor throw
     */
    Mono<Void> check();

    /**
     * The most rows that are sent together.
     *
     * @return at least 1; the smaller one of this and {@code batch-size} counts
     */
    default int maxBatch() {
        return Integer.MAX_VALUE;
    }

    /**
     * Whether the answer to a batch can be missing, as that of a peer can. Then a batch without an answer within {@code timeout} is sent again. Otherwise
     * the answer is awaited without a limit: a batch that is still being written in this process would be written twice.
     *
     * @return true by default
     */
    default boolean mayFallSilent() {
        return true;
    }

    /** Releases connections, files and threads. Blocks for some seconds at most. Calls of {@link #send} fail afterwards. */
    @Override
    void close();
}
