// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.smqtt.thread.ThreadPerTask;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HandedBackTest {

    private final EventLoop loop = new DefaultEventLoop();
    private final HandedBack handedBack = new HandedBack(loop);
    private final List<String> taken = new ArrayList<>();

    @AfterEach
    void endLoop() {
        loop.shutdownGracefully();
    }

    private HandedBack.Item item(String name) {
        return new HandedBack.Item() {
            @Override
            void handedBack() {
                assertThat(loop.inEventLoop()).isTrue();
                taken.add(name);
            }
        };
    }

    @Test
    void itemsOfABusyLoopAreOneTaskInTheirOrder() throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        loop.execute(() -> await(busy));
        handedBack.add(item("a"));
        handedBack.add(item("b"));
        loop.execute(() -> taken.add("other task"));
        handedBack.add(item("c"));
        busy.countDown();

        loop.submit(() -> {}).sync();
        assertThat(taken).containsExactly("a", "b", "c", "other task");
    }

    @Test
    void itemIsAddedAgainWhileItIsTaken() throws Exception {
        handedBack.add(new HandedBack.Item() {
            @Override
            void handedBack() {
                taken.add("again");
                if (taken.size() < 3) {
                    handedBack.add(this);
                }
            }
        });

        loop.submit(() -> {}).sync();
        loop.submit(() -> {}).sync();
        loop.submit(() -> {}).sync();
        assertThat(taken).containsExactly("again", "again", "again");
    }

    @Test
    void failedItemDoesNotAffectTheOthers() throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        loop.execute(() -> await(busy));
        handedBack.add(new HandedBack.Item() {
            @Override
            void handedBack() {
                throw new IllegalStateException("expected by the test");
            }
        });
        handedBack.add(item("a"));
        busy.countDown();

        loop.submit(() -> {}).sync();
        assertThat(taken).containsExactly("a");
    }

    @Test
    void itemsOfManyThreadsAreTakenOnceAndInTheOrderOfEach() throws Exception {
        int threads = 4;
        int each = 20_000;
        List<CompletableFuture<Void>> adding = IntStream.range(0, threads)
                .mapToObj(thread -> CompletableFuture.runAsync(
                        () -> IntStream.range(0, each).forEach(i -> handedBack.add(item(thread + "/" + i))),
                        ThreadPerTask.THREADS))
                .toList();
        adding.forEach(CompletableFuture::join);

        loop.submit(() -> {}).sync();
        assertThat(taken).hasSize(threads * each);
        for (int thread = 0; thread < threads; thread++) {
            String prefix = thread + "/";
            assertThat(taken.stream().filter(name -> name.startsWith(prefix)))
                    .containsExactlyElementsOf(
                            IntStream.range(0, each).mapToObj(i -> prefix + i).toList());
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
