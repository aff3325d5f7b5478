// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import io.smqtt.thread.AnyThread;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Where a source puts what arrives. */
@AnyThread
public interface SourceOutput {

    /** The column that is the payload of the message by default: a text or bytes. */
    String PAYLOAD = "payload";

    /**
     * Publishes what has arrived. Messages of one topic keep the order of the subscriptions that one thread makes.
     *
     * @param columns what has arrived, by name, for the placeholders of the topic and the payload; has {@link #PAYLOAD}
     * @return true when the message is as safe as an acknowledged one of a client: the source acknowledges it where it came from. False if it can
     *     never be published, because its topic is not valid: the source acknowledges it too, or gives it up as a dead letter there. Fails if the broker could not keep it: it is not acknowledged.
     *     Nothing happens before subscription. Cancelling ends the waiting, not the publishing
     */
    Mono<Boolean> publish(Map<String, @Nullable Object> columns);

    /**
     * Whether the source is to take nothing more for the moment. What it has taken already may be published.
     *
     * @return true while as much is in flight as may be, or the queues of the broker are nearly full
     */
    boolean isPaused();

    /**
     * Counts and logs something that was turned away before it became a message, because of a limit or because its sender may not send. It is not
     * acknowledged.
     *
     * @param reason a sentence for operators, one of a few
     */
    void rejected(String reason);

    /**
     * Reports to operators that the external system cannot be reached. The run continues.
     *
     * @param reason a sentence for operators, without secrets
     */
    void failing(String reason);

    /**
     * Reports the number of messages that wait in the external system, for operators. By default it is ignored.
     *
     * @param messages those that the source, or the group that it is in, has not read yet; at least 0
     */
    default void lag(long messages) {}

    /** Reports that the number of messages that wait in the external system is not known at present. By default it is ignored. */
    default void lagUnknown() {}

    /** Tells operators that the source is reached. */
    void working();
}
