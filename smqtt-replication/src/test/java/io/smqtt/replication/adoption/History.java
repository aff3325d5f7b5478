// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import io.smqtt.test.cluster.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A random history from a seed: nodes crash, return, freeze and lose their disks, the network is faulty and cut, clients go from node to node. Then all
 * is well again, and then one node is gone for good.
 */
final class History {

    /** The time in which each client finds its session, when a majority of each group is there. */
    private static final Duration BOUND = Duration.ofSeconds(5);

    private static final int SLICE_MILLIS = 250;
    private static final int PATIENCE_MILLIS = 12_000;

    private final Simulation simulation;
    private final Random random;
    private final Model model;
    private final List<Client> clients = new ArrayList<>();
    private final Faults faults;
    private long goodNanos;
    private boolean good;

    History(long seed, @Nullable Mistake mistake) {
        simulation = new Simulation(seed);
        random = simulation.random();
        model = new Model(simulation, mistake, random.nextInt(4) == 0 ? 5 : 3);
        model.subscribers().forEach(name -> clients.add(new Client(model, name)));
        clients.add(new Client(model, "p0"));
        clients.add(new Client(model, "p1"));
        faults = new Faults(model, clients);
    }

    Audit audit() {
        return model.audit();
    }

    /** Lets it happen. Fails with an {@link AssertionError} if a check does not hold. */
    void run() {
        model.nodes().forEach(Node::start);
        run(1_750);
        clients.forEach(Client::start);
        run(500);
        clients.forEach(client -> client.publishing(true));
        int steps = 5 + random.nextInt(8);
        for (int i = 0; i < steps; i++) {
            faults.step();
            run(100 + random.nextInt(random.nextInt(3) == 0 ? 2_500 : 700));
        }
        faults.heal();
        settle();
        loseOne();
    }

    private void run(int millis) {
        for (int left = millis; left > 0; left -= SLICE_MILLIS) {
            simulation.run(Duration.ofMillis(Math.min(left, SLICE_MILLIS)));
            check();
        }
    }

    /** All clients are served, and everything that was acknowledged arrives. */
    private void settle() {
        for (int millis = 0; millis < PATIENCE_MILLIS && !isServed(); millis += SLICE_MILLIS) {
            run(SLICE_MILLIS);
        }
        clients.forEach(client -> client.publishing(false));
        String left = left();
        for (int millis = 0; millis < PATIENCE_MILLIS && !left.isEmpty(); millis += SLICE_MILLIS) {
            run(SLICE_MILLIS);
            left = left();
        }
        if (!left.isEmpty()) {
            model.audit().fail("%s", left);
        }
    }

    private void loseOne() {
        clients.forEach(client -> client.publishing(true));
        run(300 + random.nextInt(500));
        model.nodes().get(random.nextInt(model.nodes().size())).host().crash();
        model.disturbed();
        run(SLICE_MILLIS);
        settle();
    }

    private boolean isServed() {
        return clients.stream().allMatch(Client::isConnected)
                && running().stream().allMatch(Node::isComplete);
    }

    /** Fails if a client has no session although a majority of each group has been there for long enough. */
    private void check() {
        boolean now = model.isGood();
        if (!now || !good) {
            goodNanos = simulation.nanoTime();
        }
        good = now;
        long forNanos = simulation.nanoTime() - Math.max(goodNanos, model.disturbedNanos());
        for (Client client : clients) {
            long waitedNanos = Math.min(forNanos, client.lostForNanos());
            model.audit().waited(waitedNanos / 1_000_000);
            if (waitedNanos > BOUND.toNanos()) {
                model.audit().fail("%s has no session; %s", client.name(), members());
            }
        }
    }

    // what is left to do

    /** What is missing, has no answer, or differs; empty if there is nothing. */
    private String left() {
        String missing = model.audit().firstMissing();
        if (!missing.isEmpty()) {
            return missing;
        }
        for (Client client : clients) {
            if (client.hasUnacknowledged() || !client.isConnected()) {
                return client.name() + " has no answer; " + members();
            }
        }
        Map<Integer, Raft> first = new TreeMap<>();
        for (Raft member : members()) {
            Raft other = first.putIfAbsent(member.group(), member);
            String left = other == null ? leftIn(member) : "";
            if (other != null && !other.content().equals(member.content())) {
                left = "members differ:\n" + other + "\n" + member;
            }
            if (!left.isEmpty()) {
                return left;
            }
        }
        return "";
    }

    private static String leftIn(Raft member) {
        if (member.state() instanceof GroupState state) {
            for (SessionRows rows : state.sessions()) {
                if (rows.isSealed() || !rows.queue().isEmpty()) {
                    return "something is left undone: " + rows;
                }
            }
        }
        return "";
    }

    private List<Node> running() {
        return model.nodes().stream().filter(node -> node.host().isUp()).toList();
    }

    private List<Raft> members() {
        List<Raft> members = new ArrayList<>();
        running().forEach(node -> members.addAll(node.members().values()));
        return members;
    }
}
