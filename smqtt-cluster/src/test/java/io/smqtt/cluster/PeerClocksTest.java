// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.Simulation;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What is logged of nodes with different clocks. */
class PeerClocksTest {

    private static final Duration WHILE = Duration.ofSeconds(3);

    private final Logger logger = (Logger) LoggerFactory.getLogger(PeerClocksTest.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final Simulation simulation = new Simulation(3);
    private final SimulatedNetwork network = new SimulatedNetwork(simulation);

    @BeforeEach
    void listen() {
        lines.start();
        logger.addAppender(lines);
    }

    @AfterEach
    void stop() {
        logger.detachAppender(lines);
    }

    private PeerClocks clocks(long millis) {
        SimulatedNode node = new SimulatedNode(simulation, network, "a", 1, ClusterSettings.defaults());
        return new PeerClocks(() -> millis, node.node().retained().clock(), new PeerWarnings(logger));
    }

    private List<String> warnings() {
        return lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    @Test
    void clocksThatAreMoreThanAMinuteApartAreNamedOnce() {
        long own = 1_700_000_000_000L;
        PeerClocks clocks = clocks(own);
        clocks.heard("near", new Frame.Clocks(own + Duration.ofSeconds(59).toMillis(), 0));
        assertThat(warnings()).isEmpty();

        clocks.heard("far", new Frame.Clocks(own - Duration.ofDays(3).toMillis(), 0));
        clocks.heard("far", new Frame.Clocks(own - Duration.ofDays(3).toMillis(), 0));
        assertThat(warnings())
                .containsExactly("the clock of node far is more than a minute off the clock of this node:"
                        + " 2023-11-11T22:13:20Z there, 2023-11-14T22:13:20Z here; set one of them");
    }

    @Test
    void theEarliestClockIsThatOfAReachableNode() {
        PeerClocks clocks = clocks(1_000_000);
        assertThat(clocks.earliestMillis()).isEqualTo(1_000_000);
        clocks.heard("behind", new Frame.Clocks(400_000, 0));
        clocks.heard("ahead", new Frame.Clocks(9_000_000, 0));
        assertThat(clocks.earliestMillis()).isEqualTo(400_000);
        clocks.gone("behind");
        assertThat(clocks.earliestMillis()).isEqualTo(1_000_000);
    }

    @Test
    void aNodeThatHasSeenNoneOfThemIsLaterNevertheless() {
        SimulatedNode a = new SimulatedNode(simulation, network, "a", 1, ClusterSettings.defaults());
        SimulatedNode b = new SimulatedNode(simulation, network, "b", 1, ClusterSettings.defaults());
        a.clockIsAhead(Duration.ofDays(5).toMillis());
        simulation.run(WHILE);
        a.retain("t", ""); // of an unknown topic: remembered for a minute, with its version
        simulation.run(WHILE);
        SimulatedNode late = new SimulatedNode(simulation, network, "late", 1, ClusterSettings.defaults());
        simulation.run(WHILE);
        late.retain("t", "later");
        simulation.run(WHILE);

        assertThat(a.tree()).containsEntry("t", "later").isEqualTo(b.tree());
    }

    @Test
    void aClockAtItsEndStaysThereAndIsUnderstood() {
        SimulatedNode a = new SimulatedNode(simulation, network, "a", 1, ClusterSettings.defaults());
        SimulatedNode b = new SimulatedNode(simulation, network, "b", 1, ClusterSettings.defaults());
        simulation.run(WHILE);
        a.node().retained().clock().observe(FrameCodec.LAST_CLOCK);
        a.retain("t", "of a");
        simulation.run(WHILE);
        b.retain("t", "of b"); // the greater name wins
        simulation.run(WHILE);

        assertThat(a.tree()).containsEntry("t", "of b").isEqualTo(b.tree());
        assertThat(a.node().counters().malformedFrames()).isZero();
        assertThat(b.node().counters().malformedFrames()).isZero();
    }
}
