// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.util.ArrayList;
import java.util.List;

/** The messages of one publisher, numbered from 0: when and where each was sent and acknowledged. Thread-safe. */
final class SentMessages {

    private final CampaignClock clock;
    private final List<Sent> all = new ArrayList<>();

    /** One message; 0 for what has not happened. */
    private static final class Sent {

        private final int firstMillis;
        private final int firstNode;
        private int sends = 1;
        private int lastMillis;
        private int lastNode;
        private int acceptedMillis;
        private int acceptedNode;
        private boolean refused;

        Sent(int firstMillis, int firstNode) {
            this.firstMillis = firstMillis;
            this.firstNode = firstNode;
        }
    }

    SentMessages(CampaignClock clock) {
        this.clock = clock;
    }

    /** A message is sent; numbers begin one after the other. */
    synchronized void sent(int number, int node) {
        if (number == all.size()) {
            all.add(new Sent(clock.millis(), node));
            return;
        }
        Sent message = all.get(number);
        message.sends++;
        message.lastMillis = clock.millis();
        message.lastNode = node;
    }

    synchronized void accepted(int number, int node) {
        Sent message = all.get(number);
        message.acceptedMillis = clock.millis();
        message.acceptedNode = node;
    }

    synchronized void refused(int number) {
        all.get(number).refused = true;
    }

    /** How many messages were begun. */
    synchronized int count() {
        return all.size();
    }

    synchronized boolean isAccepted(int number) {
        return all.get(number).acceptedMillis != 0;
    }

    /** Whether it was refused once, and sent again as a new message: it may come twice, and behind later ones. */
    synchronized boolean wasRefused(int number) {
        return all.get(number).refused;
    }

    /** When it was sent first. */
    synchronized int sentMillis(int number) {
        return all.get(number).firstMillis;
    }

    /** All that is known of a message, for people. */
    synchronized String history(int number) {
        Sent message = all.get(number);
        StringBuilder text = new StringBuilder("sent ")
                .append(clock.text(message.firstMillis))
                .append(" to n")
                .append(message.firstNode);
        if (message.sends > 1) {
            text.append(", ")
                    .append(message.sends)
                    .append(" times, last ")
                    .append(clock.text(message.lastMillis))
                    .append(" to n")
                    .append(message.lastNode);
        }
        if (message.refused) {
            text.append(", refused in between");
        }
        return message.acceptedMillis == 0
                ? text.append(", not acknowledged").toString()
                : text.append(", acknowledged ")
                        .append(clock.text(message.acceptedMillis))
                        .append(" by n")
                        .append(message.acceptedNode)
                        .toString();
    }
}
