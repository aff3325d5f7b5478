// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import io.smqtt.test.cluster.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A random history of a replicated cluster, from a seed: nodes crash, return, freeze and lose their disks, the network is
 * faulty and cut, clients go from node to node. Then all is well again, and then one node is gone for good.
 */
final class History {

    private static final Duration ADOPTION = Duration.ofSeconds(5);
    private static final int REPLICAS = 3;
    private static final int MANY_REPLICAS = 5;

    private final Simulation simulation;
    private final Random random;
    private final Model model;
    private final List<Device> devices = new ArrayList<>();
    private int wipes;

    History(long seed, @Nullable Mistake mistake) {
        simulation = new Simulation(seed);
        random = simulation.random();
        int replicas = random.nextInt(5) == 0 ? MANY_REPLICAS : REPLICAS;
        model = new Model(simulation, mistake, replicas, random.nextInt(3) == 0);
        for (String name : List.of("p0", "p1", "s0", "s1", "s2")) {
            devices.add(new Device(model, name));
        }
    }

    Audit audit() {
        return model.audit();
    }

    int wipes() {
        return wipes;
    }

    /** Lets it happen. Fails with an {@link AssertionError} if an invariant does not hold. */
    void run() {
        model.nodes().forEach(Node::start);
        run(1_000);
        devices.subList(0, 4).forEach(Device::start);
        devices.forEach(device -> device.publishing(true));
        simulation.after(random.nextInt(5_000) * 1_000_000L, devices.get(4)::start);
        int steps = 8 + random.nextInt(16);
        for (int i = 0; i < steps; i++) {
            step();
            run(50 + random.nextInt(random.nextInt(4) == 0 ? 1_500 : 500));
        }
        heal();
        settle(8_000);
        loseOne();
    }

    private void run(long millis) {
        simulation.run(Duration.ofMillis(millis));
    }

    // faults

    private void step() {
        Node node = model.nodes().get(random.nextInt(model.nodes().size()));
        switch (random.nextInt(16)) {
            case 0, 1, 2 -> crash(node);
            case 3, 4 -> freeze(node);
            case 5, 6 -> model.links().partition(side(), model.replicas());
            case 7 -> cutOneWay(node.id());
            case 8 -> model.links().heal();
            case 9, 10 ->
                model.links()
                        .faults(new Links.Faults(
                                random.nextInt(3) * 0.05, random.nextInt(3) * 0.1, random.nextInt(3) * 0.1));
            default -> devices.get(random.nextInt(devices.size())).leave(random.nextInt(3), random.nextInt(1_500));
        }
    }

    private void crash(Node node) {
        if (!node.host().isUp()) {
            return;
        }
        kill(node);
        if (random.nextInt(3) == 0 && mayLoseDisk(node)) {
            wipes++;
            node.wipe();
        }
        simulation.after((100 + random.nextInt(3_000)) * 1_000_000L, () -> restart(node));
    }

    private void kill(Node node) {
        node.host().crash();
        for (Device device : devices) {
            if (device.isConnectedTo(node)) {
                simulation.after((10 + random.nextInt(300)) * 1_000_000L, () -> {
                    if (device.isConnectedTo(node)) {
                        device.leave(2, 1);
                    }
                });
            }
        }
    }

    /** A minority may lose its disks: here one node until its replicas are complete again. */
    private boolean mayLoseDisk(Node node) {
        return node.id() < model.replicas()
                && model.nodes().stream().allMatch(other -> other == node || other.isComplete());
    }

    private void restart(Node node) {
        if (!node.host().isUp()) {
            node.start();
        }
    }

    private void freeze(Node node) {
        if (node.host().isUp() && !node.host().isFrozen()) {
            node.host().freeze();
            simulation.after(
                    (200 + random.nextInt(3_000)) * 1_000_000L,
                    () -> node.host().wake());
        }
    }

    private Set<Integer> side() {
        Set<Integer> side = new HashSet<>();
        int size = 1 + random.nextInt(model.nodes().size() - 1);
        while (side.size() < size) {
            side.add(random.nextInt(model.nodes().size()));
        }
        return side;
    }

    private void cutOneWay(int from) {
        model.nodes().forEach(other -> {
            if (other.id() != from && random.nextBoolean()) {
                model.links().cut(from, other.id());
            }
        });
    }

    private void heal() {
        model.links().heal();
        model.links().faults(Links.Faults.NONE);
        for (Node node : model.nodes()) {
            if (node.host().isFrozen()) {
                node.host().wake();
            }
            restart(node);
        }
    }

    // the end

    /** All clients are served, and everything that was acknowledged arrives. */
    private void settle(int patienceMillis) {
        for (int millis = 0; millis < patienceMillis && !isServed(); millis += 250) {
            run(250);
        }
        checkServed("after the network is good");
        devices.forEach(device -> device.publishing(false));
        for (int millis = 0; millis < patienceMillis && !isQuiet(); millis += 250) {
            run(250);
        }
        check();
    }

    private void loseOne() {
        devices.forEach(device -> device.publishing(true));
        run(300 + random.nextInt(500));
        Node node = model.nodes().get(random.nextInt(model.replicas()));
        kill(node);
        long killed = simulation.nanoTime();
        run(400);
        while (simulation.nanoTime() - killed < ADOPTION.toNanos() && !isServed()) {
            run(100);
        }
        checkServed(ADOPTION.toSeconds() + " s after node " + node.id() + " is gone");
        run(500);
        settle(8_000);
    }

    private boolean isServed() {
        return devices.stream().allMatch(device -> device.isConnected() && !isOnDeadNode(device))
                && model.nodes().stream().allMatch(Node::isComplete);
    }

    private boolean isOnDeadNode(Device device) {
        return model.nodes().stream().anyMatch(node -> !node.host().isUp() && device.isConnectedTo(node));
    }

    private void checkServed(String when) {
        for (Device device : devices) {
            if (!device.isConnected() || isOnDeadNode(device)) {
                audit().fail("%s is not served %s", device.name(), when);
            }
        }
        for (Node node : model.nodes()) {
            if (!node.isComplete()) {
                audit().fail("node %d has a replica without a vote %s", node.id(), when);
            }
        }
    }

    private boolean isQuiet() {
        return audit().isComplete()
                && devices.stream().noneMatch(Device::hasUnacknowledged)
                && running()
                        .allMatch(node -> node.replicas().values().stream()
                                .flatMap(replica -> replica.state().sessions().stream())
                                .allMatch(session ->
                                        session.queue.isEmpty() && session.dueWills.isEmpty() && session.sealedBy == 0))
                && replicasDiffer().isEmpty();
    }

    private Stream<Node> running() {
        return model.nodes().stream().filter(node -> node.host().isUp());
    }

    private void check() {
        audit().complete();
        for (Device device : devices) {
            if (device.hasUnacknowledged()) {
                audit().fail("%s has no answer to what it has published", device.name());
            }
        }
        String difference = replicasDiffer();
        if (!difference.isEmpty()) {
            audit().fail("%s", difference);
        }
        running()
                .forEach(node -> node.replicas()
                        .values()
                        .forEach(replica -> replica.state().sessions().forEach(session -> checkSettled(session))));
    }

    private void checkSettled(SessionState session) {
        if (!session.dueWills.isEmpty() || session.sealedBy != 0 || !session.queue.isEmpty()) {
            audit().fail("something is left undone: %s", session);
        }
    }

    /** Replicas at different indices, or with different states; empty if all are equal. */
    private String replicasDiffer() {
        Map<Integer, Consensus> first = new TreeMap<>();
        StringBuilder difference = new StringBuilder();
        running()
                .forEach(node -> node.replicas().forEach((group, replica) -> {
                    Consensus other = first.putIfAbsent(group, replica);
                    if (other != null
                            && (other.applied() != replica.applied()
                                    || !other.state()
                                            .toString()
                                            .equals(replica.state().toString()))) {
                        difference.append("replicas of group " + group + " differ:\n" + other + " " + other.state()
                                + "\n" + replica + " " + replica.state());
                    }
                }));
        return difference.toString();
    }
}
