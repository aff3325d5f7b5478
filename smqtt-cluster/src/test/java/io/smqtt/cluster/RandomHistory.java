// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.SimulatedNetwork.Faults;
import io.smqtt.test.cluster.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.LongFunction;
import java.util.stream.LongStream;

/**
 * What becomes of some nodes and the network between them. All of it follows from a seed. {@code -Dsmqtt.seeds=N} tries more
 * histories, {@code -Dsmqtt.seed=S} one.
 */
abstract class RandomHistory {

    final Simulation simulation;
    final SimulatedNetwork network;
    final Random random;
    final List<SimulatedNode> nodes = new ArrayList<>();
    ClusterSettings settings = ClusterSettings.defaults();
    private long epochs = 1;

    RandomHistory(long seed) {
        simulation = new Simulation(seed);
        network = new SimulatedNetwork(simulation);
        random = simulation.random();
    }

    /** Lets it happen and looks at how it ends. */
    abstract void run();

    /**
     * Runs one history after the other, up to the first that fails, whose seed is named.
     *
     * @param usual how many, if nothing else is wanted
     */
    static void runEach(int usual, LongFunction<RandomHistory> histories) {
        Long one = Long.getLong("smqtt.seed");
        LongStream seeds =
                one != null ? LongStream.of(one) : LongStream.rangeClosed(1, Integer.getInteger("smqtt.seeds", usual));
        seeds.forEach(seed -> {
            try {
                histories.apply(seed).run();
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed + ": -Dsmqtt.seed=" + seed + ": " + e.getMessage(), e);
            }
        });
    }

    /** Starts the next run of a node. */
    SimulatedNode start(String nodeId) {
        return start(nodeId, epochs++);
    }

    SimulatedNode start(String nodeId, long millis) {
        return new SimulatedNode(simulation, network, nodeId, NodeIdentity.epoch(millis, random), settings);
    }

    /**
     * From now on frames are late, lost and doubled, some more and some less.
     *
     * @param shortest below this is the shortest delay, in milliseconds; the longest is at least this
     * @param spread up to so many milliseconds longer is the longest
     * @param loss no, this or twice this share of frames is lost
     * @param detection up to so many milliseconds later than 50 nodes notice what they see
     */
    void faults(int shortest, int spread, double loss, int detection) {
        network.faults(new Faults(
                Duration.ofMillis(random.nextInt(shortest)),
                Duration.ofMillis(shortest + random.nextInt(spread)),
                random.nextBoolean(),
                random.nextInt(3) * loss,
                random.nextInt(3) * 0.1,
                Duration.ofMillis(50 + random.nextInt(detection))));
    }

    /** Nobody reaches this node, nor this node anybody. */
    void cutOff(String alone) {
        for (SimulatedNode other : nodes) {
            network.cut(alone, other.nodeId());
            network.cut(other.nodeId(), alone);
        }
    }

    /** From now on the network is good. */
    void heal() {
        network.faults(Faults.NONE);
        network.healAll();
    }
}
