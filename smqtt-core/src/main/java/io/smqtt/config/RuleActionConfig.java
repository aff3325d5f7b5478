// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * An action of a rule: {@code smqtt.rules.<name>.actions.<name>.*}. Immutable.
 *
 * @param type the kind of sink, such as {@code republish}, {@code file} or {@code http}; the page of rules lists the further keys of each
 * @param inflight maximum number of messages that the action has at the same time, from the evaluation of the statement to the answer of the
 *     sink; also the most messages that are sent again after a crash
 * @param buffer maximum number of messages that wait in memory before them; messages of QoS 0 beyond that are dropped, others wait in the queue
 * @param lanes how many batches are sent at the same time; messages of one topic share a lane, so they keep their order
 * @param batchSize maximum number of rows that are sent together
 * @param batchTime time for which a batch waits until it is full; 0s to send what is there as soon as the lane is free
 * @param timeout time for the answer of the sink; then the batch has failed
 * @param retryFor time for which a batch is sent again after failures that may pass; then its messages are dead letters
 * @param minDelay the shortest time between two attempts
 * @param maxDelay the longest time between two attempts
 * @param maxQueuedMessages maximum number of messages of QoS 1 and 2 that are queued for the action
 * @param maxQueuedBytes maximum size of that queue
 * @param full what happens when the queue is full: {@code slow-publishers}, which get their acknowledgements later, or {@code drop} the message
 * @param settings the further keys of the block, which its type declares
 */
@ConfigBlock("rules.<name>.actions.<name>")
public record RuleActionConfig(
        @Setting(required = true) String type,
        @Setting(value = "256", min = "1", max = "32000") int inflight,
        @Setting(value = "1000", min = "1", max = "32000") int buffer,
        @Setting(value = "1", min = "1", max = "64") int lanes,
        @Setting(value = "100", min = "1", max = "10000") int batchSize,
        @Setting(value = "0s", min = "0s", max = "1m") Duration batchTime,
        @Setting(value = "15s", min = "10ms", max = "10m") Duration timeout,

        @Setting(value = "0s", min = "0s", max = "30d", zero = "forever")
        Duration retryFor,

        @Setting(value = "200ms", min = "1ms", max = "1h") Duration minDelay,
        @Setting(value = "30s", min = "1ms", max = "1d") Duration maxDelay,

        @Setting(value = "100000", min = "1", max = "100000000")
        int maxQueuedMessages,

        @Setting(value = "64MiB", min = "1", max = "1TiB") long maxQueuedBytes,
        @Setting("slow-publishers") Full full,
        Map<String, ConfigValue> settings) {

    /** What happens to a message when the queue of an action is full. */
    public enum Full {
        /** It is queued, and its publisher waits. */
        SLOW_PUBLISHERS,
        /** It is dropped and counted. */
        DROP
    }

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if the delays contradict each other
     */
    public RuleActionConfig {
        settings = Collections.unmodifiableMap(new LinkedHashMap<>(settings));
        Check.that(
                minDelay.compareTo(maxDelay) <= 0,
                "rules.<name>.actions.<name>.min-delay",
                "must not be more than max-delay");
    }

    /**
     * Creates an action with defaults.
     *
     * @param type the kind of sink
     * @return a builder, for one thread
     */
    public static RuleActionConfigBuilder builder(String type) {
        return new RuleActionConfigBuilder().type(type);
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public RuleActionConfigBuilder toBuilder() {
        return new RuleActionConfigBuilder(this);
    }
}
