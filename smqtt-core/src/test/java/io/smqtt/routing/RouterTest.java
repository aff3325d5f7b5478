// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.smqtt.config.SharedStrategy;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DropReason;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class RouterTest {

    private final Map<DropReason, Integer> dropped = new HashMap<>();
    private int matched;
    private final BrokerObserver observer = new BrokerObserver() {
        @Override
        public void messageReceived(QoS qos, int payloadBytes, int matches) {
            matched += matches;
        }

        @Override
        public void messageDropped(DropReason reason, int count) {
            dropped.merge(reason, count, Integer::sum);
        }
    };
    private final RecordingLoop[] executors = {new RecordingLoop(), new RecordingLoop(), new RecordingLoop()};
    private final Router router = new Router(
            List.<EventExecutor>of(executors),
            new SubscriptionIndex(SharedStrategy.ROUND_ROBIN),
            new RetainedMessages(10, 1_000),
            observer);
    private final List<String> delivered = new ArrayList<>();

    /** Keeps the tasks it is offered. */
    private static final class RecordingLoop extends io.netty.util.concurrent.AbstractEventExecutor {
        private final Queue<Runnable> tasks = new ArrayDeque<>();
        private int offered;

        @Override
        public void execute(Runnable task) {
            offered++;
            tasks.add(task);
        }

        boolean runOne() {
            Runnable task = tasks.poll();
            if (task != null) {
                task.run();
            }
            return task != null;
        }

        @Override
        public boolean inEventLoop(Thread thread) {
            return true;
        }

        @Override
        public boolean isShuttingDown() {
            return false;
        }

        @Override
        public io.netty.util.concurrent.Future<?> shutdownGracefully(
                long quietPeriod, long timeout, java.util.concurrent.TimeUnit unit) {
            throw new UnsupportedOperationException();
        }

        @Override
        public io.netty.util.concurrent.Future<?> terminationFuture() {
            throw new UnsupportedOperationException();
        }

        @Override
        @Deprecated
        public void shutdown() {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, java.util.concurrent.TimeUnit unit) {
            return false;
        }
    }

    private void runAll() {
        boolean any = true;
        while (any) {
            any = false;
            for (RecordingLoop executor : executors) {
                any |= executor.runOne();
            }
        }
    }

    /** A subscriber of one loop. */
    private final class Owned implements Subscriber {
        private final String id;

        @Nullable
        RoutingLoop owner;

        boolean online = true;

        @Nullable
        RouteTicket kept;

        boolean keeps;

        @Nullable
        Runnable failure;

        Owned(String id, @Nullable Integer loop) {
            this.id = id;
            this.owner = loop == null ? null : router.loops().get(loop);
        }

        Owned to(String filter, @Nullable String shareName) {
            router.index()
                    .add(new Subscription(this, TopicFilter.of(filter), shareName, QoS.EXACTLY_ONCE, false, false, 0));
            return this;
        }

        @Override
        public String id() {
            return id;
        }

        @Override
        public @Nullable RoutingLoop owner() {
            return owner;
        }

        @Override
        public void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
            if (failure != null) {
                failure.run();
            }
            delivered.add(id + " " + message.payload().asString());
            if (keeps) {
                ticket.hold();
                kept = ticket;
            }
        }

        @Override
        public void deliverPassedOn(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
            delivered.add(id + " passed on " + message.payload().asString());
        }

        @Override
        public boolean isOnline() {
            return online;
        }

        @Override
        public int inFlightCount() {
            return 0;
        }
    }

    /** Counts its holds. */
    private static final class CountingTicket implements RouteTicket {
        final AtomicInteger holds = new AtomicInteger(1);
        boolean failed;

        @Override
        public void hold() {
            assertThat(holds.getAndIncrement()).isPositive();
        }

        @Override
        public void release(boolean success) {
            assertThat(holds.decrementAndGet()).isNotNegative();
            failed |= !success;
        }
    }

    private int route(int loop, String text, QoS qos, RouteTicket ticket) {
        ApplicationMessage message =
                ApplicationMessage.builder("t").payload(text).qos(qos).build();
        return router.route(router.loops().get(loop), message, ticket);
    }

    @Test
    void handsOverOncePerLoopAndPassWhateverTheNumberOfSubscribers() {
        for (int i = 0; i < 500; i++) {
            new Owned("s" + i, 1).to("t", null);
        }
        for (int i = 0; i < 20; i++) {
            assertThat(route(0, String.valueOf(i), QoS.AT_MOST_ONCE, RouteTicket.NONE))
                    .isEqualTo(500);
        }
        assertThat(executors[0].offered).isEqualTo(1);
        assertThat(executors[1].offered).isZero();

        runAll();

        assertThat(executors[1].offered).isEqualTo(1);
        assertThat(executors[2].offered).isZero();
        assertThat(delivered).hasSize(10_000);
        assertThat(matched).isEqualTo(10_000);
    }

    @Test
    void deliversAtOnceOnTheSameLoopAndWithoutAnOwner() {
        new Owned("here", 0).to("t", null);
        new Owned("anywhere", null).to("t", null);
        route(0, "x", QoS.AT_MOST_ONCE, RouteTicket.NONE);
        assertThat(delivered).containsExactlyInAnyOrder("here x", "anywhere x");
        assertThat(executors[0].offered).isZero();
    }

    @Test
    void aTicketIsHeldUntilTheLastLoopHasTakenTheMessage() {
        new Owned("a", 0).to("t", null);
        new Owned("b", 1).to("t", null);
        Owned keeper = new Owned("c", 2).to("t", null);
        keeper.keeps = true;
        CountingTicket ticket = new CountingTicket();
        route(0, "x", QoS.AT_LEAST_ONCE, ticket);
        assertThat(ticket.holds).hasValue(3);
        ticket.release(true);

        runAll();

        assertThat(ticket.holds).hasValue(1);
        keeper.kept.release(true);
        assertThat(ticket.holds).hasValue(0);
        assertThat(ticket.failed).isFalse();
    }

    @Test
    void aFailingSubscriberKeepsTheMessageFromNobodyElse() {
        expectOthersServed(() -> {
            throw new IllegalStateException("on purpose");
        });
    }

    /** As Netty's, when the memory outside of the heap is used up. */
    @Test
    void anErrorKeepsTheOthersOfItsBatchFromNothing() {
        expectOthersServed(() -> {
            throw new OutOfMemoryError("on purpose");
        });
    }

    @Test
    void failuresOfASubscriberAreLoggedOnceAMinute() {
        new Owned("failing", 0).to("t", null).failure = () -> {
            throw new OutOfMemoryError("on purpose");
        };
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        Logger logger = (Logger) LoggerFactory.getLogger(RoutingLoop.class);
        log.start();
        logger.addAppender(log);
        try {
            for (int i = 0; i < 100; i++) {
                route(0, "x", QoS.AT_MOST_ONCE, RouteTicket.NONE);
            }
            runAll();
        } finally {
            logger.detachAppender(log);
        }

        assertThat(dropped).isEqualTo(Map.of(DropReason.FAILED, 100));
        assertThat(log.list).hasSize(1);
    }

    private void expectOthersServed(Runnable failure) {
        for (int loop : new int[] {0, 1}) {
            new Owned("failing" + loop, loop).to("t", null).failure = failure;
            new Owned("good" + loop, loop).to("t", null);
        }
        CountingTicket ticket = new CountingTicket();
        route(0, "x", QoS.AT_LEAST_ONCE, ticket);
        ticket.release(true);
        runAll();

        assertThat(delivered).containsExactlyInAnyOrder("good0 x", "good1 x");
        assertThat(ticket.holds).hasValue(0);
        assertThat(ticket.failed).isTrue();
        assertThat(dropped).isEqualTo(Map.of(DropReason.FAILED, 2));
    }

    @Test
    void whatWasRoutedToAFormerOwnerIsPassedOnAndTheBarrierComesBehindIt() {
        Owned moving = new Owned("m", 1).to("t", null);
        CountingTicket ticket = new CountingTicket();
        route(0, "early", QoS.AT_LEAST_ONCE, ticket);
        moving.owner = router.loops().get(2);
        router.afterDeliveriesVia(router.loops().get(1), router.loops().get(2), () -> delivered.add("barrier"));
        route(0, "late", QoS.AT_LEAST_ONCE, ticket);
        ticket.release(true);

        runAll();

        assertThat(delivered).contains("m passed on early", "m late", "barrier");
        assertThat(delivered.indexOf("m passed on early")).isLessThan(delivered.indexOf("barrier"));
        assertThat(ticket.holds).hasValue(0);
    }

    @Test
    void aNestedRouteHasItsOwnMatches() {
        Subscriber relay = new Subscriber() {
            private boolean relayed;

            @Override
            public String id() {
                return "relay";
            }

            @Override
            public @Nullable RoutingLoop owner() {
                return null;
            }

            @Override
            public void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
                if (!relayed) {
                    relayed = true;
                    route(0, "nested", QoS.AT_MOST_ONCE, RouteTicket.NONE);
                }
            }

            @Override
            public boolean isOnline() {
                return true;
            }

            @Override
            public int inFlightCount() {
                return 0;
            }
        };
        router.index().add(new Subscription(relay, TopicFilter.of("t"), null, QoS.AT_MOST_ONCE, false, false, 0));
        new Owned("a", 0).to("t", null);
        new Owned("b", 0).to("t", null);
        route(0, "outer", QoS.AT_MOST_ONCE, RouteTicket.NONE);
        assertThat(delivered).containsExactlyInAnyOrder("a outer", "b outer", "a nested", "b nested");
    }

    @Test
    void aGroupGetsAMessageOnceAndTheAccountNamesWhatNobodyTook() {
        Owned a = new Owned("a", 0).to("t", "g");
        Owned b = new Owned("b", 0).to("t", "g");
        assertThat(route(0, "x", QoS.AT_MOST_ONCE, RouteTicket.NONE)).isEqualTo(1);
        a.online = false;
        b.online = false;
        assertThat(route(0, "y", QoS.AT_MOST_ONCE, RouteTicket.NONE)).isZero();
        assertThat(matched).isEqualTo(2);
        assertThat(delivered).hasSize(1);
        assertThat(dropped).isEqualTo(Map.of(DropReason.NO_SHARED_MEMBER, 1));
    }

    @Test
    void redispatchAsksALocalMemberOrTheBacklogOrCountsTheLoss() {
        Owned member = new Owned("a", 0);
        SharedFilter group = SharedFilter.of("$share/g/t");
        ApplicationMessage message = ApplicationMessage.builder("t")
                .payload("x")
                .qos(QoS.AT_LEAST_ONCE)
                .build();
        router.redispatch(router.loops().get(0), message, group, RouteTicket.NONE);
        assertThat(dropped).isEqualTo(Map.of(DropReason.NO_SHARED_MEMBER, 1));

        member.to("t", "g");
        router.redispatch(router.loops().get(0), message, group, RouteTicket.NONE);
        assertThat(delivered).containsExactly("a x");

        member.online = false;
        Backlog backlog = new Backlog(new Owned("queue", 0));
        router.backlogs(of -> backlog);
        router.redispatch(router.loops().get(0), message, group, RouteTicket.NONE);
        assertThat(delivered).containsExactly("a x", "queue x");
    }

    /** What waits for a group, of which nobody takes anything off. */
    private record Backlog(Owned queue) implements GroupBacklog {

        @Override
        public Subscription subscription() {
            return new Subscription(queue, TopicFilter.of("t"), "g", QoS.EXACTLY_ONCE, false, true, 0);
        }

        @Override
        public int waiting() {
            return 1;
        }

        @Override
        public long bytes() {
            return 1;
        }

        @Override
        public long waitingSinceNanos() {
            return 0;
        }
    }

    @Test
    void whatWaitsForAGroupComesBeforeLaterMessages() {
        Owned member = new Owned("a", 0);
        member.to("t", "g");
        assertThat(route(0, "x", QoS.AT_LEAST_ONCE, RouteTicket.NONE)).isEqualTo(1);
        Backlog backlog = new Backlog(new Owned("queue", 0));
        SharedGroup group = router.index().group("g", TopicFilter.of("t"));
        assertThat(group).isNotNull();
        group.backlog(backlog);
        assertThat(route(0, "y", QoS.AT_LEAST_ONCE, RouteTicket.NONE)).isEqualTo(1);
        assertThat(route(0, "z", QoS.AT_MOST_ONCE, RouteTicket.NONE)).isEqualTo(1);

        assertThat(delivered).containsExactly("a x", "queue y", "a z");
    }

    @Test
    void knowsItsOwnLoopsOnly() {
        assertThat(router.loopOf(executors[1])).isSameAs(router.loops().get(1));
        assertThat(router.loops().get(1).index()).isEqualTo(1);
        assertThatThrownBy(() -> router.loopOf(ImmediateEventExecutor.INSTANCE))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** A subscriber or a relay, on any event loop. */
    private static final class Somebody implements Subscriber {
        private final List<ApplicationMessage> delivered = new ArrayList<>();
        private final boolean relay;

        Somebody(boolean relay) {
            this.relay = relay;
        }

        @Override
        public String id() {
            return "somebody";
        }

        @Override
        public @Nullable RoutingLoop owner() {
            return null;
        }

        @Override
        public void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
            delivered.add(message);
        }

        @Override
        public boolean isOnline() {
            return true;
        }

        @Override
        public int inFlightCount() {
            return 0;
        }

        @Override
        public @Nullable String relaysTo() {
            return relay ? "elsewhere" : null;
        }
    }

    @Test
    void aMessageGoesToThoseInTheScopeOnly() {
        RoutingLoop loop = router.loops().get(0);
        Somebody here = new Somebody(false);
        Somebody there = new Somebody(true);
        SharedFilter group = SharedFilter.of("$share/g/a");
        SharedFilter unknown = SharedFilter.of("$share/x/a");
        List<SharedFilter> refused = new ArrayList<>();
        router.index().add(new Subscription(here, group.filter(), null, QoS.EXACTLY_ONCE, false, true, 0));
        router.index().add(new Subscription(there, group.filter(), null, QoS.EXACTLY_ONCE, false, true, 0));
        router.index().add(new Subscription(there, group.filter(), "g", QoS.EXACTLY_ONCE, false, true, 0));
        ApplicationMessage message = ApplicationMessage.builder("a").build();

        int all = router.route(loop, message, RouteTicket.NONE, new NoRelays(true, List.of(), refused));
        int groups =
                router.route(loop, message, RouteTicket.NONE, new NoRelays(false, List.of(group, unknown), refused));

        assertThat(all).isEqualTo(1);
        assertThat(groups).isZero();
        assertThat(refused).containsExactly(group, unknown);
        assertThat(here.delivered).containsExactly(message);
        assertThat(there.delivered).isEmpty();
    }

    /** A scope without relays. */
    private record NoRelays(boolean unshared, List<SharedFilter> groups, List<SharedFilter> refusals)
            implements RouteScope {

        @Override
        public boolean test(Subscriber subscriber) {
            return !subscriber.isRelay();
        }

        @Override
        public void refused(SharedFilter group) {
            refusals.add(group);
        }
    }

    @Test
    void aMessageThatARelayCouldNotTakeIsNotGivenToRelaysAgain() {
        RoutingLoop loop = router.loops().get(0);
        Somebody there = new Somebody(true);
        Somebody here = new Somebody(false);
        SharedFilter group = SharedFilter.of("$share/g/a");
        router.index().add(new Subscription(there, group.filter(), "g", QoS.EXACTLY_ONCE, false, true, 0));
        ApplicationMessage message = ApplicationMessage.builder("a").build();

        assertThat(router.redispatch(loop, message, group, RouteTicket.NONE)).isFalse();
        assertThat(dropped).containsEntry(DropReason.NO_SHARED_MEMBER, 1);
        router.index().add(new Subscription(here, group.filter(), "g", QoS.EXACTLY_ONCE, false, true, 0));
        assertThat(router.redispatch(loop, message, group, RouteTicket.NONE)).isTrue();
        assertThat(router.handTo(loop, message, group, member -> member == there, RouteTicket.NONE))
                .isTrue();

        assertThat(there.delivered).containsExactly(message);
        assertThat(here.delivered).containsExactly(message);
    }
}
