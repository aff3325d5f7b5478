// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * Questions to other nodes of the cluster. A question has a name and bytes, and so has the answer; their contents are a matter of those
 * who ask and answer. Nothing is repeated: a question or an answer that is lost ends with the deadline.
 */
@AnyThread
public interface PeerQueries {

    /** Maximum size of a question, in bytes. */
    int MAX_QUESTION_BYTES = 1 << 20;

    /** Maximum size of an answer, in bytes. */
    int MAX_ANSWER_BYTES = 16 << 20;

    /**
     * Answers the questions with a name that other nodes ask.
     *
     * @param name the name, at most 64 characters
     * @param answers makes the answer to a question; called on any thread, must not block. An error or an empty result is no
     *     answer: the other node waits until its deadline
     * @throws IllegalStateException if the name has an answer already
     */
    void answer(String name, Function<byte[], Mono<byte[]>> answers);

    /**
     * Asks another node.
     *
     * @param node its name
     * @param name the name of the question
     * @param question the question; not to be changed any more
     * @param deadline the time for the answer
     * @return the answer, on any thread. Fails with {@link java.util.concurrent.TimeoutException} after the deadline, and at once with
     *     {@link IllegalStateException} if the node is not reachable, runs a version without questions, or too many questions wait
     */
    Mono<byte[]> ask(String node, String name, byte[] question, Duration deadline);
}
