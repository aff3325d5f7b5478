// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.ClusterTransport.Peer;
import io.smqtt.spi.RetainedVersion;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** How much a node says at a time to one that knows nothing, and when it says nothing. */
class RetainedExchangeTest {

    private static final int TOPICS = 20_000;
    private static final long SECOND = 1_000_000_000L;

    private final Peer peer = new Peer() {};
    private final RetainedEntries entries = new RetainedEntries(10, 10_000, dropped -> {});
    private final Deque<Runnable> turns = new ArrayDeque<>();
    private final List<Frame> sent = new ArrayList<>();
    private int offered;
    private boolean full;
    private long now;
    private final RetainedExchange exchange = new RetainedExchange(
            entries,
            () -> now,
            48 * 1024,
            (to, frame) -> {
                offered++;
                if (!full) {
                    sent.add(frame);
                }
                return !full;
            },
            turns::add);

    private void fill(int payload) {
        for (int i = 0; i < TOPICS; i++) {
            entries.put(RetainedEntries.Entry.of(
                    new RetainedVersion(1_000 + i, "a"),
                    ApplicationMessage.builder("t/" + i)
                            .payload("x".repeat(payload))
                            .build()));
        }
    }

    private int rows() {
        return sent.stream()
                .mapToInt(frame -> frame instanceof Frame.RetainedUpdate update
                        ? update.rows().size()
                        : 0)
                .sum();
    }

    private void askForAll() {
        for (int part = 0; part < RetainedEntries.PARTS; part++) {
            exchange.versions(peer, new Frame.RetainedVersions(part, List.of(), List.of()));
        }
    }

    @Test
    void aTurnSaysLittleAndOthersHaveTheirTurnBetween() {
        fill(10);
        askForAll();
        assertThat(sent).isEmpty(); // nothing is said where the question is heard
        int most = 0;
        int count = 0;
        while (!turns.isEmpty()) {
            assertThat(turns).hasSize(1);
            int before = rows();
            turns.remove().run();
            most = Math.max(most, rows() - before);
            count++;
        }
        assertThat(rows()).isEqualTo(TOPICS);
        assertThat(most).isBetween(1, 256);
        assertThat(count).isGreaterThan(TOPICS / 256);
    }

    @Test
    void longMessagesGoInFramesOfTheUsualLength() {
        fill(5_000);
        askForAll();
        int most = 0;
        while (!turns.isEmpty()) {
            int before = rows();
            turns.remove().run();
            most = Math.max(most, rows() - before);
        }
        assertThat(rows()).isEqualTo(TOPICS);
        assertThat(most).isLessThan(50);
        for (Frame frame : sent) {
            assertThat(FrameCodec.encode(new NodeIdentity("a", 1), frame, 0)).hasSizeLessThan(50 * 1024);
        }
    }

    @Test
    void whileTheTransportIsFullOneFrameIsTriedNowAndThenAndNothingIsLeftOut() {
        fill(10);
        askForAll();
        for (int i = 0; i < 5; i++) {
            turns.remove().run();
        }
        int before = rows();
        full = true;
        offered = 0;
        for (int i = 0; i < 10; i++) {
            now += SECOND / 10;
            exchange.tick(now);
            while (!turns.isEmpty()) {
                turns.remove().run();
            }
        }
        assertThat(offered).isEqualTo(10);
        assertThat(rows()).isEqualTo(before);

        full = false;
        exchange.tick(now);
        while (!turns.isEmpty()) {
            turns.remove().run();
        }
        Set<String> topics = new HashSet<>();
        for (Frame frame : sent) {
            if (frame instanceof Frame.RetainedUpdate update) {
                update.rows().forEach(row -> topics.add(row.topic()));
            }
        }
        assertThat(topics).hasSize(TOPICS);
        assertThat(rows()).isEqualTo(TOPICS);
    }

    @Test
    void fewPartsAreAskedForAtATimeAndOneThatDoesNotAnswerIsGivenUp() {
        long[] theirs = new long[RetainedEntries.PARTS];
        Arrays.fill(theirs, 7);
        exchange.digest(peer, theirs, null);
        while (!turns.isEmpty()) {
            turns.remove().run();
        }
        assertThat(sent).hasSize(RetainedExchange.WINDOW).allMatch(Frame.RetainedVersions.class::isInstance);
        assertThat(exchange.due()).isEqualTo(RetainedEntries.PARTS);

        exchange.compared(peer, new Frame.RetainedCompared(0, 0));
        while (!turns.isEmpty()) {
            turns.remove().run();
        }
        assertThat(sent).hasSize(RetainedExchange.WINDOW + 1);

        now += 6 * SECOND;
        exchange.tick(now);
        assertThat(exchange.due()).isZero();
    }

    @Test
    void whoHasTheGreaterHashDoesNotAsk() {
        fill(1);
        exchange.digest(peer, new long[RetainedEntries.PARTS], null);
        while (!turns.isEmpty()) {
            turns.remove().run();
        }
        assertThat(sent).isEmpty();
        assertThat(exchange.due()).isZero();
    }

    @Test
    void aPartIsAskedOfOneNodeAtATime() {
        Peer other = new Peer() {};
        long[] theirs = new long[RetainedEntries.PARTS];
        Arrays.fill(theirs, 7);
        exchange.digest(peer, theirs, null);
        exchange.digest(other, theirs, null);
        assertThat(exchange.due()).isEqualTo(RetainedEntries.PARTS);
        exchange.gone(peer);
        assertThat(exchange.due()).isZero();
        exchange.digest(other, theirs, null);
        assertThat(exchange.due()).isEqualTo(RetainedEntries.PARTS);
    }
}
