// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The order in which the messages of one topic, which are numbers, were sent over successive connections. It is kept if before each message all
 * earlier ones were sent over the same connection, or had been acknowledged. Then a receiver gets the first copies of all messages in order,
 * whatever was lost with a connection. Numbers that were never sent do not count. Safe for use by several threads.
 */
final class SendOrder {

    private static final int ACKNOWLEDGED = 0;

    private final List<Step> steps = new ArrayList<>();

    /**
     * A message that was sent or acknowledged.
     *
     * @param connection {@link #ACKNOWLEDGED}, or the number of the connection over which it was sent
     */
    private record Step(int connection, int number) {}

    /** The messages of one connection, and how many of all messages, in order, were sent over it or acknowledged. */
    private static final class Sent {
        private final Set<Integer> numbers = new HashSet<>();
        private int complete;
    }

    /**
     * Notes a PUBLISH.
     *
     * @param connection the number of its connection, from 1
     */
    synchronized void sent(int connection, int number) {
        steps.add(new Step(connection, number));
    }

    /** Notes that the receiver has a message. */
    synchronized void acknowledged(int number) {
        steps.add(new Step(ACKNOWLEDGED, number));
    }

    /** Whether the order was kept until now. */
    synchronized boolean isKept() {
        int[] all = steps.stream()
                .filter(step -> step.connection != ACKNOWLEDGED)
                .mapToInt(Step::number)
                .sorted()
                .distinct()
                .toArray();
        Set<Integer> acknowledged = new HashSet<>();
        Map<Integer, Sent> connections = new HashMap<>();
        for (Step step : steps) {
            if (step.connection == ACKNOWLEDGED) {
                acknowledged.add(step.number);
                continue;
            }
            Sent sent = connections.computeIfAbsent(step.connection, key -> new Sent());
            sent.numbers.add(step.number);
            while (sent.complete < all.length
                    && (sent.numbers.contains(all[sent.complete]) || acknowledged.contains(all[sent.complete]))) {
                sent.complete++;
            }
            if (sent.complete < all.length && all[sent.complete] < step.number) {
                return false;
            }
        }
        return true;
    }
}
