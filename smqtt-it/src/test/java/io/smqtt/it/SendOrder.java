// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The order in which the messages of one topic, which are numbers, were sent over successive connections. It is kept if over each connection each message
 * was sent once, in the order in which they were sent first, and behind all earlier numbers, of which none was left out but those that had been
 * acknowledged. Then a receiver gets the first copies of all numbers in order, whatever was lost with a connection. A number with another packet identifier
 * is another message: its publisher has sent it once more. Numbers that were never sent do not count.
 *
 * <p>A message that the receiver has refused for the time being may be sent again over the same connection, behind those that were in flight. From then on
 * until it is acknowledged no new one may be sent. Safe for use by several threads.
 */
final class SendOrder {

    private final List<Step> steps = new ArrayList<>();

    /** What happened to a message. */
    private enum What {
        SENT,
        REFUSED,
        ACKNOWLEDGED
    }

    private record Message(int number, int packetId) {}

    /**
     * A message that was sent, refused for the time being, or acknowledged.
     *
     * @param connection the number of the connection; 0 for an acknowledgement
     */
    private record Step(What what, int connection, Message message) {}

    /** The messages of one connection. */
    private static final class Sent {
        private final Set<Integer> numbers = new HashSet<>();

        /** Refused messages without an acknowledgement, and whether each was sent again since its first refusal. */
        private final Map<Message, Boolean> refused = new HashMap<>();

        private int latest = -1; // the place of a message among all
        private int complete; // how many of all numbers, in order, were sent or acknowledged

        /** Whether a message may be sent now, apart from numbers that were left out. */
        private boolean mayFollow(Message message, int place) {
            return refused.containsKey(message) || place > latest && !refused.containsValue(true);
        }
    }

    /**
     * Notes a PUBLISH.
     *
     * @param connection the number of its connection, from 1
     */
    synchronized void sent(int connection, int number, int packetId) {
        steps.add(new Step(What.SENT, connection, new Message(number, packetId)));
    }

    /**
     * Notes that the receiver has refused a message for the time being.
     *
     * @param connection the number of the connection, from 1
     */
    synchronized void refused(int connection, int number, int packetId) {
        steps.add(new Step(What.REFUSED, connection, new Message(number, packetId)));
    }

    /** Notes that the receiver has a message, or does not want it. */
    synchronized void acknowledged(int number, int packetId) {
        steps.add(new Step(What.ACKNOWLEDGED, 0, new Message(number, packetId)));
    }

    /** Whether the order was kept until now. */
    boolean isKept() {
        return isKept(true);
    }

    /** Whether the order was kept so far that a receiver that refuses nothing got the first copies in order, whatever came once more behind them. */
    boolean isKeptForFirstCopies() {
        return isKept(false);
    }

    private synchronized boolean isKept(boolean strict) {
        int[] all = steps.stream()
                .filter(step -> step.what == What.SENT)
                .mapToInt(step -> step.message.number)
                .sorted()
                .distinct()
                .toArray();
        Map<Message, Integer> places = new HashMap<>();
        Set<Integer> acknowledged = new HashSet<>();
        Map<Integer, Sent> connections = new HashMap<>();
        for (Step step : steps) {
            Message message = step.message;
            if (step.what == What.ACKNOWLEDGED) {
                acknowledged.add(message.number);
                connections.values().forEach(each -> each.refused.remove(message));
                continue;
            }
            Sent sent = connections.computeIfAbsent(step.connection, key -> new Sent());
            if (step.what == What.REFUSED) {
                sent.refused.putIfAbsent(message, false);
                continue;
            }
            int place = places.computeIfAbsent(message, key -> places.size());
            if (strict && !sent.mayFollow(message, place)) {
                return false;
            }
            sent.refused.computeIfPresent(message, (key, before) -> true);
            sent.latest = Math.max(sent.latest, place);
            sent.numbers.add(message.number);
            while (sent.complete < all.length
                    && (sent.numbers.contains(all[sent.complete]) || acknowledged.contains(all[sent.complete]))) {
                sent.complete++;
            }
            if (sent.complete < all.length && all[sent.complete] < message.number) {
                return false;
            }
        }
        return true;
    }
}
