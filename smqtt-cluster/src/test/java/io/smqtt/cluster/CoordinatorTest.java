// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.test.cluster.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which nodes are asked before a claim is granted, while nodes come. */
class CoordinatorTest {

    private static final NodeIdentity CLAIMANT = new NodeIdentity("claimant", 1);
    private static final Duration RETRY = Duration.ofSeconds(1);
    private static final Frame.Claim CLAIM =
            new Frame.Claim(7, "client", Frame.Purpose.RESUME, null, LocalClients.NONE);
    private static final ClaimKey KEY = new ClaimKey("claimant", 1, 7, "client");

    private final Simulation simulation = new Simulation(1);
    private final List<Frame> said = new ArrayList<>();
    private final List<String> others = new ArrayList<>(List.of("claimant"));
    private final List<String> strangers = new ArrayList<>();
    private final Coordinator coordinator =
            new Coordinator(new RecordingWire(simulation, said, others, strangers), RETRY);

    private void free(String node) {
        coordinator.released(node, new Frame.Released(KEY, Frame.Outcome.FREE, 0));
    }

    private long releases() {
        return said.stream().filter(Frame.Release.class::isInstance).count();
    }

    private boolean isGranted() {
        return said.stream().anyMatch(frame -> frame instanceof Frame.Granted granted && granted.granted());
    }

    /** A node that has just joined hears of a claim before the node that has the session has introduced itself. */
    @Test
    void noClaimBeginsWhileAProcessIsNotKnown() {
        strangers.add("holder");
        coordinator.claim(CLAIMANT, CLAIM);
        coordinator.tick(simulation.nanoTime());
        assertThat(said).isEmpty();

        strangers.clear();
        others.add("holder");
        coordinator.up("holder");
        assertThat(releases()).isEqualTo(2);
        free("self");
        assertThat(isGranted()).isFalse();
        free("holder");
        assertThat(isGranted()).isTrue();
    }

    @Test
    void aProcessThatIsNotAwaitedAnyMoreDelaysNoClaim() {
        strangers.add("silent");
        coordinator.claim(CLAIMANT, CLAIM);
        assertThat(said).isEmpty();

        strangers.clear();
        coordinator.tick(simulation.nanoTime());
        free("self");
        assertThat(isGranted()).isTrue();
    }

    /** It may have been given the session by a node that has answered before. */
    @Test
    void aNodeThatComesBeforeTheDecisionIsAskedToo() {
        coordinator.claim(CLAIMANT, CLAIM);
        assertThat(releases()).isEqualTo(1);
        others.add("returned");
        coordinator.up("returned");
        assertThat(releases()).isEqualTo(2);

        free("self");
        assertThat(isGranted()).isFalse();
        free("returned");
        assertThat(isGranted()).isTrue();
    }
}
