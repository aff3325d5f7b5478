// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.spi.ClusterTransport.Peer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** All rows of a node on their way to another one, a few parts at a time. */
class SnapshotPagesTest {

    private static final int ROWS_PER_FRAME = 10;
    private static final int WINDOW = 8;
    private static final long RUN = 7;

    private final Peer peer = new Peer() {};
    private final OwnRoutes own = new OwnRoutes(5);
    private final Queue<Frame> sent = new ArrayDeque<>();
    private final Map<String, Integer> table = new HashMap<>();
    private final PeerRoutes receiver = new PeerRoutes(row -> {
        if (row.isRemoval()) {
            table.remove(row.filter());
        } else {
            table.put(row.filter(), row.weight());
        }
    });
    private long now;
    private final RouteSender sender = new RouteSender(own, settings(), () -> now, (to, frame) -> sent.add(frame));

    private static ClusterSettings settings() {
        ClusterSettings usual = ClusterSettings.defaults();
        return new ClusterSettings(
                usual.flushInterval(),
                usual.digestInterval(),
                usual.pullPatience(),
                usual.routeTtl(),
                usual.retransmit(),
                usual.frameBytes(),
                ROWS_PER_FRAME,
                WINDOW,
                5,
                usual.windowMessages(),
                usual.windowBytes(),
                usual.queueMessages(),
                usual.queueBytes(),
                usual.clearedTopics(),
                usual.clearedBytes());
    }

    private void subscribe(int from, int to) {
        for (int i = from; i < to; i++) {
            own.change("f/" + i, 1, true);
        }
        own.flush();
    }

    @Test
    void noMoreThanAFewPartsAreOnTheirWay() {
        subscribe(0, 1_000);

        sender.answer(peer, Frame.NOTHING);
        assertThat(sent).hasSize(WINDOW);

        int most = 0;
        int questions = 0;
        while (!sent.isEmpty()) {
            most = Math.max(most, sent.size());
            if (sent.remove() instanceof Frame.Snapshot part) {
                receiver.apply(RUN, part);
            }
            Frame.More more = receiver.more(RUN, false, WINDOW / 4);
            if (more != null) {
                questions++;
                sender.answer(peer, more);
            }
        }
        assertThat(receiver.isAssembling()).isFalse();
        assertThat(table).hasSize(1_000);
        assertThat(receiver.compare(RUN, own.digest())).isEqualTo(PeerRoutes.Outcome.FINE);
        assertThat(most).isLessThanOrEqualTo(WINDOW + WINDOW / 4);
        assertThat(questions).isBetween(1_000 / ROWS_PER_FRAME / WINDOW, 1_000 / ROWS_PER_FRAME);
    }

    @Test
    void aPartThatWasLostIsSentAgainAndNotTheWholeTable() {
        subscribe(0, 1_000);
        sender.answer(peer, Frame.NOTHING);
        int lost = 3;
        while (!sent.isEmpty()) {
            Frame.Snapshot part = (Frame.Snapshot) sent.remove();
            if (part.index() != lost) {
                receiver.apply(RUN, part);
            }
        }

        Frame.More more = receiver.more(RUN, true, 0);
        assertThat(more)
                .isNotNull()
                .satisfies(question -> assertThat(question.part()).isEqualTo(lost));
        sender.answer(peer, more);

        assertThat(sent)
                .hasSize(WINDOW)
                .first()
                .isInstanceOfSatisfying(
                        Frame.Snapshot.class, part -> assertThat(part.index()).isEqualTo(lost));
    }

    @Test
    void partsThatComeAgainBeginNothing() {
        subscribe(0, 20);
        sender.answer(peer, Frame.NOTHING);
        Frame.Snapshot first = (Frame.Snapshot) sent.remove();
        Frame.Snapshot second = (Frame.Snapshot) sent.remove();
        receiver.apply(RUN, second);
        receiver.apply(RUN, first);

        receiver.apply(RUN, second);

        assertThat(receiver.isAssembling()).isFalse();
        assertThat(table).hasSize(20);
    }

    @Test
    void changesOfMeanwhileAreKeptForWhoTakesTheTable() {
        subscribe(0, 1_000);
        sender.answer(peer, Frame.NOTHING);
        subscribe(1_000, 1_200); // more than are kept otherwise
        while (!sent.isEmpty()) {
            receiver.apply(RUN, (Frame.Snapshot) sent.remove());
            Frame.More more = receiver.more(RUN, false, 1);
            if (more != null) {
                sender.answer(peer, more);
            }
        }
        assertThat(receiver.isAssembling()).isFalse();

        sender.answer(peer, new Frame.More(RUN, receiver.sequenceOf(RUN), 1, 100, false));
        assertThat(sent).hasSize(20);
        while (!sent.isEmpty()) {
            receiver.apply(RUN, (Frame.Delta) sent.remove());
        }
        assertThat(table).hasSize(1_200);
        assertThat(receiver.compare(RUN, own.digest())).isEqualTo(PeerRoutes.Outcome.FINE);
        assertThat(own.knowsChangesAfter(1_000)).as("kept for nobody any more").isFalse();
    }

    @Test
    void whoDoesNotAskAnyMoreIsForgotten() {
        subscribe(0, 1_000);
        sender.answer(peer, Frame.NOTHING);
        subscribe(1_000, 1_200);
        assertThat(own.knowsChangesAfter(1_000)).isTrue();

        now = Duration.ofMinutes(1).toNanos();
        sender.tick();

        assertThat(own.knowsChangesAfter(1_000)).isFalse();
    }
}
