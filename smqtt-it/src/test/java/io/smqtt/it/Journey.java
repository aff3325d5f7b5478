// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The way of a client with a stored session between the nodes of a cluster: where it is to be, where it was and when, and how long it was without its
 * session after a node was killed. Thread-safe.
 */
final class Journey implements ConnectionWatch {

    private static final int NOWHERE = -1;

    private final CampaignClock clock;
    private final ToIntFunction<InetSocketAddress> nodeAt;
    private final Whereabouts place = new Whereabouts();
    private final List<Stay> stays = new ArrayList<>();
    private final List<Wait> waits = new ArrayList<>();
    private final TreeMap<Integer, Integer> refusals = new TreeMap<>();
    private int target = NOWHERE;
    private int node = NOWHERE;
    private int killedMillis;
    private int killed = NOWHERE;
    private boolean leaving;
    private int lost;
    private int silences;

    /** A time without the session: from the end of the node, or of the connection to it, until a node said that it has the session. */
    record Wait(int fromMillis, int toMillis) {}

    /** A connection: from when to when, 0 if it has not ended. */
    private record Stay(int node, boolean found, int fromMillis, int toMillis) {}

    Journey(CampaignClock clock, ToIntFunction<InetSocketAddress> nodeAt) {
        this.clock = clock;
        this.nodeAt = nodeAt;
    }

    /** The address at which the client looks for its broker. */
    Whereabouts place() {
        return place;
    }

    /** Sends the client to a node. */
    synchronized void goTo(int where, @Nullable InetSocketAddress address) {
        target = where;
        place.set(address);
    }

    /** The client has no broker from now on. */
    synchronized void goNowhere() {
        target = NOWHERE;
        place.set(null);
    }

    /** The node of the client is killed: the time without its session begins. */
    synchronized void robbed() {
        killedMillis = clock.millis();
        killed = target;
        place.set(null);
    }

    /** The node of the client stops: the time without its session begins when the node ends the connection. */
    synchronized void leaves() {
        killed = target;
        leaving = true;
        place.set(null);
        if (!isOpen()) {
            left();
        }
    }

    private void left() {
        leaving = false;
        killedMillis = clock.millis();
    }

    private boolean isOpen() {
        return !stays.isEmpty() && stays.get(stays.size() - 1).toMillis == 0;
    }

    /** Whether the client is to be at one of these nodes, and is connected to no other one. */
    synchronized boolean isAmong(List<Integer> nodes) {
        return nodes.contains(target) && (!isOpen() || nodes.contains(node));
    }

    /** Whether the client is to be at a node. */
    synchronized boolean isAt(int where) {
        return target == where;
    }

    /** Whether the client has no broker, because it is to have none. */
    synchronized boolean isNowhere() {
        return target == NOWHERE;
    }

    /** Whether the client waits for its session since its node was killed, or is about to. */
    synchronized boolean isWaiting() {
        return killedMillis != 0 || leaving;
    }

    /** Does not count any longer how long the client waits; returns for how many milliseconds it has waited. */
    synchronized int giveUp() {
        int since = killedMillis;
        killedMillis = 0;
        leaving = false;
        return clock.millis() - since;
    }

    /** The node of the present connection, or of the last one. */
    synchronized int node() {
        return node;
    }

    @Override
    public synchronized void connected(InetSocketAddress address, boolean found) {
        node = nodeAt.applyAsInt(address);
        stays.add(new Stay(node, found, clock.millis(), 0));
        if (!found) {
            lost++;
        }
        if (killedMillis == 0 || node == killed) { // the latter: a moment before it was killed
            return;
        }
        if (found) {
            waits.add(new Wait(killedMillis, clock.millis()));
        }
        killedMillis = 0;
    }

    @Override
    public synchronized void ended() {
        if (!stays.isEmpty()) {
            int last = stays.size() - 1;
            Stay stay = stays.get(last);
            if (stay.toMillis == 0) {
                stays.set(last, new Stay(stay.node, stay.found, stay.fromMillis, clock.millis()));
            }
        }
        if (leaving) {
            left();
        }
    }

    @Override
    public synchronized boolean comesAgain(int reasonCode) {
        refusals.merge(reasonCode, 1, Integer::sum);
        return true;
    }

    @Override
    public synchronized boolean endsInSilence() {
        silences++;
        return true;
    }

    /** Each time from the end of a node to the CONNACK with the session. */
    synchronized List<Wait> waits() {
        return List.copyOf(waits);
    }

    /** How often a CONNACK said that there is no session. */
    synchronized int lost() {
        return lost;
    }

    /** The connections of clients that were told that they have no session, for people. */
    synchronized List<String> notFound() {
        return stays.stream().filter(stay -> !stay.found).map(this::text).toList();
    }

    /** How often nothing came for a minute. */
    synchronized int silences() {
        return silences;
    }

    /** How often a CONNECT was refused with each reason code. */
    synchronized TreeMap<Integer, Integer> refusals() {
        return new TreeMap<>(refusals);
    }

    /** The connections of the client around a moment: the connection before it, and the two after it. */
    synchronized String around(int millis) {
        int after = 0;
        while (after < stays.size() && stays.get(after).fromMillis <= millis) {
            after++;
        }
        StringBuilder text = new StringBuilder();
        for (int i = Math.max(0, after - 2); i < Math.min(stays.size(), after + 2); i++) {
            text.append(text.isEmpty() ? "" : "; ").append(text(stays.get(i)));
        }
        return text.toString();
    }

    private String text(Stay stay) {
        String end = stay.toMillis == 0 ? "" : clock.text(stay.toMillis);
        return String.format(
                Locale.ROOT,
                "n%d %s-%s%s",
                stay.node,
                clock.text(stay.fromMillis),
                end,
                stay.found ? "" : " without its session");
    }
}
