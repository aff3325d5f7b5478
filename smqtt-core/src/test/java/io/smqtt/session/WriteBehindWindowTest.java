// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.Ticker;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is acknowledged at once is not written, and everything else is, in time and in order. */
class WriteBehindWindowTest {

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final StoreLoop loop = new StoreLoop(channel.eventLoop(), new DeadlineWheel(Ticker.SYSTEM), true, true);
    private final InFlightWindow window = new InFlightWindow(new QueueBudget(Long.MAX_VALUE));
    private final List<Long> written = new ArrayList<>();
    private final WriteBehindWindow writeBehind = new WriteBehindWindow(window, this::write, loop);
    private final SessionBench bench = new SessionBench(1);
    private final Subscription subscription =
            SessionBench.subscribe(bench.open("c", 0, false, 1_000, new RecordingSink()), "t", QoS.AT_LEAST_ONCE);

    WriteBehindWindowTest() {
        channel.freezeTime();
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private void write(RouteTicket ticket, long sequence) {
        assertThat(window.message(sequence)).isNotNull();
        assertThat(window.subscription(sequence)).isSameAs(subscription);
        assertThat(window.number(sequence)).isEqualTo(sequence + 1);
        if (ticket instanceof CountedTicket counted) {
            assertThat(counted.holds).isPositive();
        }
        written.add(window.number(sequence));
    }

    private boolean send(RouteTicket ticket) {
        ApplicationMessage message = bench.message("t", "x", QoS.AT_LEAST_ONCE);
        long sequence = window.add(message, subscription, QoS.AT_LEAST_ONCE);
        boolean held = writeBehind.add(sequence, ticket);
        window.number(sequence, sequence + 1);
        if (!held) {
            written.add(sequence + 1);
        }
        return held;
    }

    private void acknowledge(long sequence) {
        assertThat(writeBehind.remove(sequence)).isEqualTo(!written.contains(sequence + 1));
        window.remove(sequence);
    }

    private void turns(int count) {
        for (int i = 0; i < count; i++) {
            channel.advanceTimeBy(StoreLoop.TURN_MILLIS, TimeUnit.MILLISECONDS);
            channel.runScheduledPendingTasks();
        }
    }

    @Test
    void whatIsAcknowledgedInTimeIsNeverWritten() {
        CountedTicket ticket = new CountedTicket();
        assertThat(send(ticket)).isTrue();
        turns(1);
        assertThat(ticket.holds).isEqualTo(1);
        acknowledge(0);
        assertThat(ticket.holds).isZero();
        turns(3);
        assertThat(written).isEmpty();
        assertThat(channel.runScheduledPendingTasks()).isEqualTo(-1); // no turn is left
    }

    @Test
    void whatIsNotAcknowledgedIsWrittenAfterTwoTurns() {
        CountedTicket ticket = new CountedTicket();
        send(ticket);
        send(RouteTicket.NONE);
        turns(2);
        assertThat(written).containsExactly(1L, 2L);
        assertThat(ticket.holds).isZero();
        acknowledge(1);
        acknowledge(0);
        assertThat(ticket.holds).isZero();
    }

    @Test
    void aSlowClientsNextMessagesAreWrittenAtOnceAndLaterOnesAreTriedAgain() {
        send(RouteTicket.NONE);
        turns(2);
        int atOnce = 0;
        while (!send(RouteTicket.NONE)) {
            atOnce++;
        }
        assertThat(atOnce).isEqualTo(32);
    }

    @Test
    void whatWasSentBeforeIsWrittenBefore() {
        send(RouteTicket.NONE);
        turns(1);
        send(RouteTicket.NONE);
        turns(1); // the first was too late
        assertThat(written).containsExactly(1L);
        assertThat(send(RouteTicket.NONE)).isFalse();
        assertThat(written).containsExactly(1L, 2L, 3L);
    }

    @Test
    void allTicketsComeBackFromAWindowThatGrows() {
        List<CountedTicket> tickets = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            tickets.add(new CountedTicket());
            send(tickets.get(i));
        }
        for (int i = 0; i < 100; i += 2) {
            acknowledge(i);
            assertThat(tickets.get(i).holds).isZero();
        }
        writeBehind.writeAll();
        assertThat(tickets).allMatch(ticket -> ticket.holds == 0);
        assertThat(written).hasSize(50).isSorted();
    }

    @Test
    void nothingIsHeldBackWhileTheStoreFails() {
        send(RouteTicket.NONE);
        loop.failed(1, new IllegalStateException("the disk is full"));
        assertThat(send(RouteTicket.NONE)).isFalse();
        assertThat(written).containsExactly(1L, 2L);
    }

    @Test
    void whatIsHeldBackIsHandedOverAtTheEnd() {
        send(RouteTicket.NONE);
        loop.finish();
        assertThat(written).containsExactly(1L);
    }

    private static final class CountedTicket implements RouteTicket {
        private int holds;

        @Override
        public void hold() {
            holds++;
        }

        @Override
        public void release(boolean success) {
            assertThat(success).isTrue();
            holds--;
        }
    }
}
