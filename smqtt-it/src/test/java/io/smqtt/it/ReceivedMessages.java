// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The messages of one publisher that a subscriber has received: when each came first, those that came again, and those that came too late. Thread-safe. */
final class ReceivedMessages {

    private final CampaignClock clock;
    private int[] firstMillis = new int[1_024]; // by number, 0 if it has not come
    private int different;
    private final List<Copy> copies = new ArrayList<>();
    private final List<Copy> late = new ArrayList<>();
    private final int[] highest;

    /**
     * A message that came again, or behind a later one of its topic.
     *
     * @param other the time at which it came first in milliseconds, or the number of the later message
     */
    record Copy(int number, int millis, int node, boolean dup, int other) {}

    ReceivedMessages(CampaignClock clock, int topics) {
        this.clock = clock;
        highest = new int[topics];
        Arrays.fill(highest, -1);
    }

    /** A message has come. */
    synchronized void received(int number, int node, boolean dup) {
        if (number >= firstMillis.length) {
            firstMillis = Arrays.copyOf(firstMillis, Math.max(number + 1, 2 * firstMillis.length));
        }
        int now = clock.millis();
        if (firstMillis[number] != 0) {
            copies.add(new Copy(number, now, node, dup, firstMillis[number]));
            return;
        }
        firstMillis[number] = now;
        different++;
        int topic = number % highest.length;
        if (number < highest[topic]) {
            late.add(new Copy(number, now, node, dup, highest[topic]));
        } else {
            highest[topic] = number;
        }
    }

    synchronized boolean has(int number) {
        return number < firstMillis.length && firstMillis[number] != 0;
    }

    /** How many different messages have come. */
    synchronized int different() {
        return different;
    }

    /** The messages that came again. */
    synchronized List<Copy> copies() {
        return List.copyOf(copies);
    }

    /** The messages that came behind a later one of their topic. */
    synchronized List<Copy> late() {
        return List.copyOf(late);
    }
}
