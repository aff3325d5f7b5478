// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.spi.ClusterTransport.Peer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How much may wait for the cluster's loop, and who waits then. */
class FrameGateTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int LENGTH = 50_000 - FrameGate.FRAME_OVERHEAD;

    private record Named(String name) implements Peer {}

    private static final Peer A = new Named("a");
    private static final Peer B = new Named("b");

    private final FrameGate gate = new FrameGate(200_000, 400_000);

    private FrameGate.Line enter(Peer from) {
        FrameGate.Line line = gate.enter(from, LENGTH);
        assertThat(line).isNotNull();
        return line;
    }

    private CompletableFuture<FrameGate.Line> later(Peer from) {
        CompletableFuture<FrameGate.Line> entered = new CompletableFuture<>();
        int before = gate.waiting();
        new Thread(() -> entered.complete(gate.enter(from, LENGTH))).start();
        await().atMost(PATIENCE).until(() -> gate.waiting() == before + 1);
        return entered;
    }

    @Test
    void whoHasTooMuchHereWaitsUntilHalfOfItIsGoneAndOthersDoNot() throws Exception {
        FrameGate.Line line = enter(A);
        for (int i = 1; i < 4; i++) {
            enter(A);
        }
        CompletableFuture<FrameGate.Line> fifth = later(A);
        assertThat(gate.bytes()).isEqualTo(200_000);

        enter(B);
        gate.handled(line, LENGTH);
        assertThat(fifth).isNotDone();
        gate.handled(line, LENGTH);

        assertThat(fifth.get(30, TimeUnit.SECONDS)).isSameAs(line);
        assertThat(gate.bytes()).isEqualTo(200_000);
        assertThat(gate.waiting()).isZero();
    }

    @Test
    void allTogetherAreBoundedAndWhoHasHardlyAnythingPasses() throws Exception {
        List<FrameGate.Line> lines = new ArrayList<>();
        Peer c = new Named("c");
        for (int i = 0; i < 8; i++) {
            lines.add(enter(i < 3 ? A : i < 6 ? B : c));
        }
        CompletableFuture<FrameGate.Line> ofAll = later(A);

        enter(new Named("d"));
        assertThat(gate.bytes()).isEqualTo(450_000);
        lines.forEach(line -> gate.handled(line, LENGTH));

        assertThat(ofAll.get(30, TimeUnit.SECONDS)).isNotNull();
        assertThat(gate.bytes()).isEqualTo(100_000);
    }

    @Test
    void aFrameThatIsLongerThanTheBoundPassesAlone() {
        FrameGate.Line line = gate.enter(A, 10_000_000);

        assertThat(line).isNotNull();
        gate.handled(line, 10_000_000);
        assertThat(gate.bytes()).isZero();
    }

    @Test
    void nobodyWaitsWhenItIsClosed() throws Exception {
        for (int i = 0; i < 4; i++) {
            enter(A);
        }
        CompletableFuture<FrameGate.Line> waits = later(A);

        gate.close();

        assertThat(waits.get(30, TimeUnit.SECONDS)).isNull();
        assertThat(gate.enter(A, LENGTH)).isNull();
        assertThat(gate.bytes()).isEqualTo(200_000);
    }

    @Test
    void aThreadThatIsInterruptedGivesItsFrameUp() {
        for (int i = 0; i < 4; i++) {
            enter(A);
        }
        Thread.currentThread().interrupt();

        assertThat(gate.enter(A, LENGTH)).isNull();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(gate.waiting()).isZero();
    }

    @Test
    void noMoreThreadsWaitThanTheTransportCanSpare() {
        List<CompletableFuture<FrameGate.Line>> waiting = new ArrayList<>();
        for (int peer = 0; peer < 16; peer++) {
            Peer from = new Named("peer " + peer);
            FrameGate.Line first = gate.enter(from, 300_000);
            assertThat(first).isNotNull();
            waiting.add(later(from));
        }
        Peer last = new Named("last");
        gate.enter(last, 300_000);

        assertThat(gate.enter(last, LENGTH)).isNull();
        gate.close();
        waiting.forEach(one -> assertThat(one).succeedsWithin(PATIENCE));
    }

    @Test
    void peersThatAreGoneAreForgottenWhenNothingOfThemIsHere() {
        FrameGate.Line ofA = enter(A);
        FrameGate.Line ofB = enter(B);
        gate.handled(ofA, LENGTH);

        gate.keepOnly(Set.of());

        assertThat(enter(A)).isNotSameAs(ofA);
        assertThat(enter(B)).isSameAs(ofB);
    }
}
