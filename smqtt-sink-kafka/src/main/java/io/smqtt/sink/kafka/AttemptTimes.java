// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkSettings;
import java.time.Duration;

/**
 * The division of the time that an action has for one batch. A record is handed to the producer within {@code hand} of the beginning, which takes
 * {@code block} at most, and the producer gives it up after {@code delivery}. Together they are nine tenths of the timeout, so the action
 * sends a row again only after the producer has given it up.
 *
 * @param hand until then records are handed over; those that come later, since others wait before them, are not sent
 * @param block the longest time for which the producer blocks, for the partitions of a topic or for room in its buffer
 * @param delivery the time from then to the answer of the cluster
 */
record AttemptTimes(Duration hand, Duration block, Duration delivery) {

    private static final Duration SHORTEST = Duration.ofMillis(100);
    private static final int PARTS = 10;
    private static final int USED = 9; // the rest is for the answer's way to the action
    private static final int TO_HAND = 2;
    private static final int MOST_TO_BLOCK = 2;

    /**
     * Divides the timeout of an action.
     *
     * @throws io.smqtt.config.ConfigurationException if it is too short
     */
    static AttemptTimes of(SinkContext context) {
        SinkSettings settings = context.settings();
        Duration timeout = context.config().timeout();
        if (timeout.compareTo(SHORTEST) < 0) {
            throw settings.problem("timeout", "must be at least 100ms for Kafka");
        }
        Duration part = timeout.dividedBy(PARTS);
        Duration hand = part.multipliedBy(TO_HAND);
        Duration mostToBlock = part.multipliedBy(MOST_TO_BLOCK);
        Duration wanted = settings.duration(KafkaSinkFactory.MAX_BLOCK);
        Duration block = wanted.compareTo(mostToBlock) < 0 ? wanted : mostToBlock;
        return new AttemptTimes(hand, block, part.multipliedBy(USED).minus(hand).minus(block));
    }
}
