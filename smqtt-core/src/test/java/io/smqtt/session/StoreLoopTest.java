// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.Ticker;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Who waits for the store, and what that costs. */
class StoreLoopTest {

    private static final int FIRST_CAPACITY = 64;

    private final List<Long> told = new ArrayList<>();
    private final StoreStep<List<Long>> step = new StoreStep<>() {
        @Override
        public boolean completed(List<Long> owner, long value, int bytes, boolean kept) {
            owner.add(value);
            return false;
        }

        @Override
        public void retry(List<Long> owner, long value) {
            throw new AssertionError("nothing failed");
        }
    };
    private final StoreLoop loop =
            new StoreLoop(ImmediateEventExecutor.INSTANCE, new DeadlineWheel(Ticker.SYSTEM), true, true);
    private long position;

    @BeforeEach
    void open() {
        StoreWriter writer = (StoreWriter) Proxy.newProxyInstance(
                StoreWriter.class.getClassLoader(),
                new Class<?>[] {StoreWriter.class},
                (proxy, method, arguments) -> method.getName().equals("position") ? position : null);
        BrokerStore store = (BrokerStore) Proxy.newProxyInstance(
                BrokerStore.class.getClassLoader(),
                new Class<?>[] {BrokerStore.class},
                (proxy, method, arguments) -> method.getName().equals("writer") ? writer : null);
        loop.open(store, new TakenNotes("taken/0/"));
    }

    private void await(int count) {
        for (int i = 0; i < count; i++) {
            position++;
            loop.watch(told, step, position, 0);
        }
    }

    @Test
    void whatManyWaitersTookIsGivenBack() {
        await(100_000);
        assertThat(loop.capacity()).isEqualTo(1 << 17);
        loop.committed(position);
        for (int i = 0; i < 20; i++) {
            await(3);
            loop.committed(position - 1); // one waits on, so that the ring is never empty
        }
        loop.committed(position);

        assertThat(loop.capacity()).isBetween(FIRST_CAPACITY, 4_096);
        assertThat(told).hasSize(100_060).isSorted();
    }

    @Test
    void aLoadThatStaysKeepsItsRoom() {
        for (int i = 0; i < 20; i++) {
            await(10_000);
            loop.committed(position);
        }

        assertThat(loop.capacity()).isEqualTo(1 << 14);
    }

    @Test
    void aWaiterWhoseEventLoopHasEndedKeepsNobodyWaiting() {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        Logger logger = (Logger) LoggerFactory.getLogger(StoreLoop.class);
        log.start();
        logger.addAppender(log);
        try {
            position++;
            loop.await(
                    kept -> {
                        throw new RejectedExecutionException("ended");
                    },
                    true);
            await(1);
            loop.committed(position);
        } finally {
            logger.detachAppender(log);
        }

        assertThat(told).containsExactly(2L);
        assertThat(log.list).noneMatch(event -> event.getLevel().isGreaterOrEqual(Level.WARN));
    }
}
