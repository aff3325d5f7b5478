// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.spi.ClusterTransport.Peer;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.Simulation;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Processes that are connected and have not introduced themselves. */
class StrangersTest {

    private static final Duration WHILE = Duration.ofSeconds(3);

    private final Simulation simulation = new Simulation(3);
    private final SimulatedNetwork network = new SimulatedNetwork(simulation);
    private final SimulatedNode a = new SimulatedNode(simulation, network, "a", 1, ClusterSettings.defaults());
    private final Peer silent = new Peer() {};

    @BeforeEach
    void meet() {
        SimulatedNode b = new SimulatedNode(simulation, network, "b", 1, ClusterSettings.defaults());
        simulation.run(WHILE);
        assertThat(b.reaches("a")).isTrue();
        assertThat(knowsAll()).isTrue();
    }

    private boolean knowsAll() {
        return a.node().membership().knowsAllPresent();
    }

    @Test
    void aSilentProcessIsAwaitedForFiveSeconds() {
        a.node().up(silent);
        simulation.run(WHILE);
        assertThat(knowsAll()).isFalse();
        simulation.run(WHILE);
        assertThat(knowsAll()).isTrue();
    }

    @Test
    void aProcessThatHasGoneIsNotAwaited() {
        a.node().up(silent);
        simulation.run(Duration.ofSeconds(1));
        a.node().down(silent);
        simulation.run(Duration.ofSeconds(1));
        assertThat(knowsAll()).isTrue();
    }

    @Test
    void aProcessWithTheNodeIdOfThisOneIsNotAwaited() {
        a.node().up(silent);
        simulation.run(Duration.ofSeconds(1));
        a.node()
                .received(
                        silent,
                        FrameCodec.encode(
                                new NodeIdentity("a", 99), new Frame.Delta(1, List.of(new RouteRow("x", 1))), 0));
        simulation.run(Duration.ofSeconds(1));
        assertThat(knowsAll()).isTrue();
    }
}
