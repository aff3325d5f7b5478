// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import io.smqtt.test.cluster.Simulation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Sees everything that happens, whereas nodes and clients see their part. It fails as soon as replicas differ, two servers
 * have one epoch, a session is missing, an older retained message is read, or a message comes twice or out of order; what is
 * missing it finds in the end.
 */
final class Audit {

    private static final class Fate {

        final Set<String> expected = new HashSet<>();
        final Map<String, Integer> deliveries = new HashMap<>();
        boolean acknowledged;
    }

    private final Simulation simulation;
    private final Map<Integer, List<Integer>> outcomes = new HashMap<>();
    private final Map<String, String> servers = new HashMap<>();
    private final Map<Message, Fate> fates = new LinkedHashMap<>();
    private final Map<String, Long> last = new HashMap<>();
    private final Map<String, Long> retained = new HashMap<>();
    private final Set<String> subscribers = new HashSet<>();
    private int connects;
    private int wills;

    Audit(Simulation simulation) {
        this.simulation = simulation;
    }

    void fail(String format, Object... arguments) {
        throw new AssertionError(
                "after " + simulation.nanoTime() / 1_000_000 + " ms: " + String.format(format, arguments));
    }

    /** A replica has applied an entry: with the result that all others have. */
    void applied(int group, long index, Outcome outcome) {
        List<Integer> known = outcomes.computeIfAbsent(group, key -> new ArrayList<>());
        if (index > known.size()) {
            if (index != known.size() + 1) {
                fail("entry %d of group %d is applied before %d", index, group, known.size() + 1);
            }
            known.add(outcome.hashCode());
        } else if (known.get((int) index - 1) != outcome.hashCode()) {
            fail("replicas of group %d differ at entry %d: %s", group, index, outcome);
        }
    }

    /** A node serves a session. */
    void served(String client, long epoch, String server) {
        String other = servers.put(client + " " + epoch, server);
        if (other != null && !other.equals(server)) {
            fail("%s and %s serve %s in epoch %d", other, server, client, epoch);
        }
    }

    /** A client has its CONNACK. */
    void connected(Device device, boolean present, boolean expected, Map<String, Long> before, Map<String, Long> read) {
        connects++;
        if (expected && !present) {
            fail("%s has lost its session", device.name());
        }
        before.forEach((topic, number) -> {
            if (read.getOrDefault(topic, 0L) < number) {
                fail("%s reads %s of topic %s after %d was acknowledged", device.name(), read, topic, number);
            }
        });
        if (device.name().startsWith("s")) {
            subscribers.add(device.name());
        }
    }

    /** Numbers of the retained messages that are acknowledged. */
    Map<String, Long> retainedNumbers() {
        return Map.copyOf(retained);
    }

    void published(Message message) {
        fates.computeIfAbsent(message, key -> {
            Fate fate = new Fate();
            fate.expected.addAll(subscribers);
            return fate;
        });
    }

    void acknowledged(Message message) {
        Fate fate = fates.get(message);
        if (!fate.acknowledged && message.publisher().startsWith("will/")) {
            wills++;
        }
        fate.acknowledged = true;
        if (message.retain()) {
            retained.merge(message.publisher(), message.number(), Math::max);
        }
    }

    void delivered(String subscriber, Message message) {
        Fate fate = fates.get(message);
        int times = fate.deliveries.merge(subscriber, 1, Integer::sum);
        if (times > 1 && message.qos() == 2) {
            fail("%s gets %s again", subscriber, message);
        }
        if (times > 1 || !fate.expected.contains(subscriber)) {
            return; // one that was published before the subscription may be published again behind later ones
        }
        Long before = last.put(subscriber + " of " + message.publisher(), message.number());
        if (before != null && before > message.number()) {
            fail("%s gets %s after %d", subscriber, message, before);
        }
    }

    /** Whether all that was acknowledged has arrived. */
    boolean isComplete() {
        return firstMissing().isEmpty();
    }

    /** Fails if something that was acknowledged has not arrived. */
    void complete() {
        String missing = firstMissing();
        if (!missing.isEmpty()) {
            fail("%s", missing);
        }
    }

    private String firstMissing() {
        for (Map.Entry<Message, Fate> message : fates.entrySet()) {
            Fate fate = message.getValue();
            for (String subscriber : fate.expected) {
                if (fate.acknowledged && !fate.deliveries.containsKey(subscriber)) {
                    return subscriber + " never gets " + message.getKey() + ", which was acknowledged";
                }
            }
        }
        return "";
    }

    int acknowledgedMessages() {
        return (int) fates.values().stream().filter(fate -> fate.acknowledged).count();
    }

    int connects() {
        return connects;
    }

    int wills() {
        return wills;
    }
}
