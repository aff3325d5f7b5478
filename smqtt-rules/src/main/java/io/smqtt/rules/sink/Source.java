// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import io.smqtt.thread.AnyThread;
import reactor.core.publisher.Mono;

/** A place from which messages come into the broker. It is as fast as the broker, by {@link SourceOutput#isPaused()}. */
@AnyThread
public interface Source extends AutoCloseable {

    /**
     * Reads. Called again after a run has ended; there is one run at a time, as far as {@link #ended} tells of its end.
     *
     * @param out publishes what arrives
     * @return completes, or fails, when the source has ended by itself; it begins again then. The message of an error is for operators and has no
     *     secrets. Cancelling ends the run: nothing more is taken, what the broker has is acknowledged. Must neither block nor throw
     */
    Mono<Void> run(SourceOutput out);

    /**
     * Waits for the last run after it was cancelled. The next run begins when this has completed, after ten seconds at the latest.
     *
     * @return completes when the last run takes and acknowledges nothing more, and its place, such as a port, is free; at once if there was none.
     *     By default it completes at once, which is right for a source whose runs have ended when they are cancelled, or whose runs do not disturb
     *     each other. Must neither block nor throw
     */
    default Mono<Void> ended() {
        return Mono.empty();
    }

    /**
     * Checks that the source can be reached, without taking anything from it.
     *
     * @return completes if it can; fails with the reason, for operators and without secrets. Must neither block nor throw
     */
    Mono<Void> check();

    /**
     * Checks that a source that has never been read could be, for a person who makes one; it is closed afterwards.
     *
     * @return as {@link #check}, which it is by default
     */
    default Mono<Void> tryOut() {
        return check();
    }

    /** Releases connections and threads. Blocks for some seconds at most. */
    @Override
    void close();
}
