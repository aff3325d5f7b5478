// SPDX-License-Identifier: Apache-2.0
package io.smqtt.overload;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.smqtt.config.OverloadConfig;
import io.smqtt.spi.BrokerObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OverloadWatchTest {

    private final EmbeddedChannel first = new EmbeddedChannel();
    private final EmbeddedChannel second = new EmbeddedChannel();
    private final List<String> changes = new ArrayList<>();
    private final Memory memory = new Memory();
    private long nanos = 1;
    private final List<LoopLag> lags =
            List.of(new LoopLag(first.eventLoop(), () -> nanos), new LoopLag(second.eventLoop(), () -> nanos));
    private final OverloadWatch watch = new OverloadWatch(
            OverloadConfig.defaults().toBuilder()
                    .maxLoopLag(Duration.ofMillis(250))
                    .build(),
            new BrokerObserver() {
                @Override
                public void overloadChanged(int level, String cause) {
                    changes.add(level + " " + cause);
                }
            },
            () -> nanos,
            lags,
            List.of(new MemorySignal(memory, 85)));

    private static final class Memory implements MemoryFigure {
        private long used;
        private long evidence;

        @Override
        public String name() {
            return "the test";
        }

        @Override
        public long usedBytes() {
            return used;
        }

        @Override
        public long maximumBytes() {
            return 1_000;
        }

        @Override
        public long evidence() {
            return evidence;
        }
    }

    @AfterEach
    void close() {
        first.finishAndReleaseAll();
        second.finishAndReleaseAll();
    }

    /** Lets time pass; the second loop runs only as often as told. */
    private int pass(Duration time, int millisBetweenRunsOfTheSecond) {
        long end = nanos + time.toNanos();
        long due = 0;
        for (int millis = 0; nanos < end; millis += 10) {
            nanos += Duration.ofMillis(10).toNanos();
            first.advanceTimeBy(10, TimeUnit.MILLISECONDS);
            first.runPendingTasks();
            second.advanceTimeBy(10, TimeUnit.MILLISECONDS);
            if (nanos - due >= Duration.ofMillis(millisBetweenRunsOfTheSecond).toNanos()) {
                due = nanos;
                second.runPendingTasks();
            }
            if (millis % 250 == 0) {
                watch.sample();
            }
        }
        return watch.level();
    }

    private void start() {
        lags.forEach(LoopLag::start);
        first.runPendingTasks();
        second.runPendingTasks();
    }

    @Test
    void loopsThatRunAreNoOverload() {
        start();
        assertThat(pass(Duration.ofMinutes(1), 10)).isZero();
        assertThat(changes).isEmpty();
    }

    @Test
    void oneLoopThatIsBehindAgainAndAgainRaisesTheLevelAndItFallsAfterwards() {
        start();
        assertThat(pass(Duration.ofSeconds(10), 600)).isEqualTo(3);
        assertThat(changes).hasSize(3);
        assertThat(changes.get(0)).startsWith("1 an event loop is ").endsWith(" ms behind");
        assertThat(pass(Duration.ofSeconds(4), 10)).isEqualTo(3);
        assertThat(pass(Duration.ofSeconds(15), 10)).isZero();
        assertThat(changes.subList(3, 6)).containsExactly("2 ", "1 ", "0 ");
    }

    @Test
    void oneStallOfASecondIsNoOverload() {
        start();
        assertThat(pass(Duration.ofMillis(1_000), 1_000)).isZero();
        assertThat(pass(Duration.ofSeconds(20), 10)).isZero();
        assertThat(changes).isEmpty();
    }

    @Test
    void aLoopThatStandsStillIsOverload() {
        start();
        assertThat(pass(Duration.ofSeconds(8), 1_000_000)).isEqualTo(3);
    }

    @Test
    void memoryCountsAsLongAsItsFigureIsFresh() {
        start();
        memory.used = 860;
        memory.evidence++;
        assertThat(pass(Duration.ofSeconds(7), 10)).isEqualTo(3);
        assertThat(changes.get(0)).isEqualTo("1 86 % of the test are in use");
        memory.used = 830; // between the thresholds
        memory.evidence++;
        assertThat(pass(Duration.ofSeconds(29), 10)).isEqualTo(3);
        assertThat(pass(Duration.ofSeconds(17), 10)).isZero(); // nothing is collected: the figure says nothing any more
        memory.used = 900;
        memory.evidence++;
        assertThat(pass(Duration.ofSeconds(3), 10)).isEqualTo(1);
        memory.used = 800;
        assertThat(pass(Duration.ofSeconds(6), 10)).isZero();
    }

    @Test
    void aStoppedWatchLeavesNoTaskBehind() {
        start();
        watch.stop();
        assertThat(pass(Duration.ofSeconds(10), 1_000_000)).isZero();
    }

    @Test
    void whatIsSwitchedOffIsNotWatched() {
        OverloadWatch off = new OverloadWatch(
                OverloadConfig.defaults().toBuilder()
                        .maxLoopLag(Duration.ZERO)
                        .maxHeapPercent(0)
                        .maxDirectPercent(0)
                        .build(),
                List.of(),
                new BrokerObserver() {});
        off.start();
        off.sample();
        assertThat(off.level()).isZero();
        off.stop();
    }

    /** Single buffers that come and go beside a large reserve would keep a broker that takes no work overloaded. */
    @Test
    void directMemoryIsNewsOnlyWhenItGrowsByAPercent() {
        AtomicLong used = new AtomicLong(8_600);
        MemoryFigure figure = new DirectFigure(used::get, () -> 10_000);
        figure.usedBytes();
        long before = figure.evidence();

        for (int i = 0; i < 20; i++) {
            used.set(8_600 + 50 * (i % 2));
            figure.usedBytes();
        }
        assertThat(figure.evidence()).isEqualTo(before);

        for (int i = 1; i <= 3; i++) {
            used.addAndGet(40); // slow growth adds up
            figure.usedBytes();
        }
        assertThat(figure.evidence()).isEqualTo(before + 1);
        used.set(9_500);
        assertThat(figure.usedBytes()).isEqualTo(9_500);
        assertThat(figure.evidence()).isEqualTo(before + 2);
        used.set(8_000);
        figure.usedBytes();
        assertThat(figure.evidence()).as("less is no news").isEqualTo(before + 2);
    }

    /** Of an allocator of its own, which keeps nothing in reserve: other tests in this process use that of Netty. */
    @Test
    void buffersOfAnAllocatorRaiseTheLevelsAndTheyFallWhenTheseAreReleased() {
        UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
        OverloadWatch direct = new OverloadWatch(
                OverloadConfig.defaults(),
                new BrokerObserver() {
                    @Override
                    public void overloadChanged(int level, String cause) {
                        changes.add(level + " " + cause);
                    }
                },
                () -> nanos,
                List.of(),
                List.of(new MemorySignal(
                        new DirectFigure(() -> allocator.metric().usedDirectMemory(), () -> 64 << 20), 85)));
        List<ByteBuf> buffers = new ArrayList<>();
        assertThat(sampled(direct, Duration.ofSeconds(10))).isZero();
        try {
            for (int i = 0; i < 60; i++) {
                buffers.add(allocator.directBuffer(1 << 20));
            }
            assertThat(sampled(direct, Duration.ofSeconds(10))).isEqualTo(3);
            assertThat(changes.get(0)).isEqualTo("1 93 % of the memory outside of the heap are in use");
            assertThat(DirectFigure.reserved()).as("in this process").isGreaterThanOrEqualTo(60 << 20);
        } finally {
            buffers.forEach(ByteBuf::release);
        }
        assertThat(sampled(direct, Duration.ofSeconds(40))).isZero();
    }

    private int sampled(OverloadWatch direct, Duration time) {
        for (long end = nanos + time.toNanos();
                nanos < end;
                nanos += Duration.ofMillis(250).toNanos()) {
            direct.sample();
        }
        return direct.level();
    }

    @Test
    void theFiguresOfThisProcessAreSane() {
        for (MemoryFigure figure : List.of(new HeapFigure(), new DirectFigure())) {
            assertThat(figure.usedBytes()).as(figure.name()).isBetween(0L, figure.maximumBytes());
        }
        System.gc();
        assertThat(new HeapFigure().usedBytes()).isPositive();
    }
}
