// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import io.smqtt.test.cluster.Simulation;
import java.util.List;
import java.util.Random;

/** Everything that goes wrong in a history, at random. */
final class Faults {

    private final Model model;
    private final Simulation simulation;
    private final Random random;
    private final List<Client> clients;

    Faults(Model model, List<Client> clients) {
        this.model = model;
        this.clients = clients;
        simulation = model.simulation();
        random = model.random();
    }

    /** One of them. */
    void step() {
        Node node = model.nodes().get(random.nextInt(model.nodes().size()));
        switch (random.nextInt(12)) {
            case 0, 1, 2 -> crash(node);
            case 3, 4 -> freeze(node);
            case 5, 6 -> separate(node);
            case 7 -> cutOneWay(node);
            case 8 -> model.network().faultyPercent(random.nextInt(3) * 5);
            case 9 -> model.network().heal();
            default -> clients.get(random.nextInt(clients.size())).move();
        }
    }

    private void crash(Node node) {
        if (!node.host().isUp()) {
            return;
        }
        node.host().crash();
        model.disturbed();
        if (random.nextInt(3) == 0 && mayLoseDisk(node)) {
            node.wipe();
        }
        simulation.after((100 + random.nextInt(4_000)) * 1_000_000L, () -> restart(node));
    }

    /** A minority may lose its disks: here one node, until it may vote again. */
    private boolean mayLoseDisk(Node node) {
        return model.nodes().stream().allMatch(other -> other == node || other.isComplete());
    }

    private void restart(Node node) {
        if (!node.host().isUp()) {
            model.disturbed();
            node.start();
        }
    }

    private void freeze(Node node) {
        if (node.host().isUp() && !node.host().isFrozen()) {
            node.host().freeze();
            int run = node.host().run();
            simulation.after((200 + random.nextInt(5_000)) * 1_000_000L, () -> {
                if (node.host().run() == run && node.host().isFrozen()) {
                    node.host().wake();
                    model.disturbed();
                }
            });
        }
    }

    /** Cuts one node off, or with five nodes another one with it. */
    private void separate(Node node) {
        int count = model.nodes().size();
        int with = count > 3 && random.nextBoolean() ? (node.id() + 1 + random.nextInt(count - 1)) % count : node.id();
        for (Node other : model.nodes()) {
            if (other.id() != node.id() && other.id() != with) {
                for (int inside : new int[] {node.id(), with}) {
                    model.network().cut(inside, other.id());
                    model.network().cut(other.id(), inside);
                }
            }
        }
    }

    private void cutOneWay(Node from) {
        model.nodes().forEach(other -> {
            if (other != from && random.nextBoolean()) {
                model.network().cut(from.id(), other.id());
            }
        });
    }

    /** All is well again. */
    void heal() {
        model.network().heal();
        for (Node node : model.nodes()) {
            if (node.host().isFrozen()) {
                node.host().wake();
            }
            restart(node);
        }
    }
}
