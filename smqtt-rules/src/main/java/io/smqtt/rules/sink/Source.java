// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.thread.AnyThread;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * A place from which messages come into the broker. It takes the next message from there when the one before is published, or as many at a time
 * as it may have unfinished, so that it is as fast as the broker.
 */
@AnyThread
public interface Source extends AutoCloseable {

    /**
     * Begins to read.
     *
     * @param out publishes a message; its Mono completes when the broker has it, and the source acknowledges it where it came from. Messages are
     *     published in the order of subscriptions
     * @return completes with an error when the source has ended by itself; it is begun again then. Must not block
     */
    Mono<Void> run(Function<ApplicationMessage, Mono<Void>> out);

    /** Releases connections and threads. Blocks for some seconds at most. */
    @Override
    void close();
}
