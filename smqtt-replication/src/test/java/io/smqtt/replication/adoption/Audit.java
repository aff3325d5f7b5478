// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import io.smqtt.test.cluster.Simulation;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Sees everything that happens. It fails as soon as a session is served in an earlier epoch or reign than before, or by two nodes in one, a session
 * is lost, a QoS 2 message comes again, or messages of a publisher on a topic come out of order; what is missing it finds in the end.
 */
final class Audit {

    /** The latest one that has served a session, since a time. */
    private record Service(long epoch, long reign, int node, long sinceNanos) {

        boolean isBefore(Service other) {
            return epoch < other.epoch || (epoch == other.epoch && reign < other.reign);
        }

        boolean isOf(Service other) {
            return epoch == other.epoch && reign == other.reign;
        }
    }

    private final Simulation simulation;
    private final List<String> subscribers;
    private final Map<String, Service> services = new HashMap<>();
    private final Map<Long, Long> applied = new HashMap<>();
    private final Map<String, Integer> last = new HashMap<>();
    private final Map<Message, Map<String, Integer>> deliveries = new LinkedHashMap<>();
    private final Set<Message> acknowledged = new HashSet<>();
    private final Map<Integer, Integer> reigns = new HashMap<>();
    private int connects;
    private int adoptions;
    private int returns;
    private int moves;
    private long longestMillis;

    Audit(Simulation simulation, Collection<String> subscribers) {
        this.simulation = simulation;
        this.subscribers = List.copyOf(subscribers);
    }

    void fail(String format, Object... arguments) {
        throw new AssertionError(
                "after " + simulation.nanoTime() / 1_000_000 + " ms: " + String.format(format, arguments));
    }

    /** An entry was applied by a member; returns when the first one has applied it. */
    long applied(int group, long index) {
        return applied.computeIfAbsent(group * 1_000_000L + index, key -> simulation.nanoTime());
    }

    /**
     * A node answers for a session.
     *
     * @param committedNanos when that was committed: a node that was frozen may tell it later, which is true
     */
    void served(Change change, long reign, int node, long committedNanos) {
        String client = change.client();
        Service now = new Service(change.epoch(), reign, node, committedNanos);
        Service latest = services.get(client);
        if (latest == null || latest.isBefore(now)) {
            services.put(client, now);
        } else if (latest.isOf(now) ? latest.node != node : latest.sinceNanos < committedNanos) {
            fail("the session of %s is served by %s after %s", client, now, latest);
        }
    }

    /** A client has its CONNACK. */
    void connected(String client, boolean present, boolean expected) {
        connects++;
        if (expected && !present) {
            fail("%s has lost its session", client);
        }
    }

    void published(Message message) {
        deliveries.computeIfAbsent(message, key -> new HashMap<>());
    }

    void acknowledged(Message message) {
        acknowledged.add(message);
    }

    void delivered(String subscriber, Message message) {
        Map<String, Integer> counts = deliveries.get(message);
        int times = counts.merge(subscriber, 1, Integer::sum);
        if (times > 1) {
            if (message.qos() == 2) {
                fail("%s gets %s again", subscriber, message);
            }
            return;
        }
        String line = subscriber + " " + message.publisher() + " " + message.topic();
        Integer before = last.put(line, message.number());
        if (before != null && before > message.number()) {
            fail("%s gets %s after %d", subscriber, message, before);
        }
    }

    /** The first message that was acknowledged and has not arrived; empty if there is none. */
    String firstMissing() {
        for (Map.Entry<Message, Map<String, Integer>> message : deliveries.entrySet()) {
            for (String subscriber : subscribers) {
                if (acknowledged.contains(message.getKey())
                        && !message.getValue().containsKey(subscriber)) {
                    return subscriber + " never gets " + message.getKey() + ", which was acknowledged";
                }
            }
        }
        return "";
    }

    /** A client has been without a session for so long, while a majority was there. */
    void waited(long millis) {
        longestMillis = Math.max(longestMillis, millis);
    }

    /** A node begins to serve a group. */
    void reigns(int node, int group) {
        Integer before = reigns.put(group, node);
        adoptions += node == group ? 0 : 1;
        returns += node == group && before != null && before != node ? 1 : 0;
    }

    /** A session has moved to another group. */
    void moved() {
        moves++;
    }

    Figures figures() {
        int arrived = deliveries.values().stream().mapToInt(Map::size).sum();
        return new Figures(connects, acknowledged.size(), arrived, adoptions, returns, moves, longestMillis);
    }

    /**
     * What has happened in a history.
     *
     * @param arrived messages that have come to a client
     * @param longestMillis the longest time in which a client has found its session, while a majority was there
     */
    record Figures(
            int connects, int acknowledged, int arrived, int adoptions, int returns, int moves, long longestMillis) {

        static final Figures NONE = new Figures(0, 0, 0, 0, 0, 0, 0);

        Figures plus(Figures other) {
            return new Figures(
                    connects + other.connects,
                    acknowledged + other.acknowledged,
                    arrived + other.arrived,
                    adoptions + other.adoptions,
                    returns + other.returns,
                    moves + other.moves,
                    Math.max(longestMillis, other.longestMillis));
        }
    }
}
