// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.monitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;

class LiveEventsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final AtomicInteger computed = new AtomicInteger();
    private final AtomicInteger read = new AtomicInteger();
    private final LiveEvents events = new LiveEvents(
            new Monitor(),
            Map.of(
                    "count",
                    (figures, all) -> all.put("n", computed.incrementAndGet()),
                    "other",
                    (figures, all) -> all.put("x", 7)),
            new LiveLists(Map.of("list", source(() -> Mono.just(List.of(read.incrementAndGet() / 3))))),
            10);

    private static LiveLists.Source source(Supplier<Mono<?>> read) {
        return new LiveLists.Source(LiveLists.TICKS, read);
    }

    private static List<String> read(LiveEvents events, List<Disposable> readers, String... topics) {
        List<String> parts = new CopyOnWriteArrayList<>();
        readers.add(events.of(Set.of(topics)).subscribe(part -> parts.add(new String(part, StandardCharsets.UTF_8))));
        return parts;
    }

    @Test
    void anEventIsComputedOnceForAllReadersAndNotWithoutThem() {
        List<Disposable> readers = new ArrayList<>();
        List<String> one = read(events, readers, "count");
        List<String> two = read(events, readers, "count");
        await().atMost(PATIENCE).until(() -> one.size() > 3 && two.size() > 3);

        assertThat(one.get(0)).startsWith(":");
        assertThat(one.get(1)).matches("event: count\ndata: \\{\"n\":\\d+}\n\n");
        assertThat(two).contains(one.get(3));
        assertThat(events.readers()).isEqualTo(2);
        readers.forEach(Disposable::dispose);
        assertThat(events.readers()).isZero();
        assertThat(events.isTicking()).isFalse();
    }

    @Test
    void onlyTopicsWithReadersAreComputed() {
        List<Disposable> readers = new ArrayList<>();
        List<String> parts = read(events, readers, "other");
        await().atMost(PATIENCE).until(() -> parts.size() > 3);
        readers.forEach(Disposable::dispose);

        assertThat(parts.get(1)).isEqualTo("event: other\ndata: {\"x\":7}\n\n");
        assertThat(computed).hasValue(0);
    }

    @Test
    void aListIsSentAtOnceAndWhenItHasChanged() {
        List<Disposable> readers = new ArrayList<>();
        List<String> parts = read(events, readers, "list");
        await().atMost(PATIENCE).until(() -> parts.size() > 3);
        List<String> late = read(events, readers, "list");
        await().atMost(PATIENCE).until(() -> late.size() > 1);
        readers.forEach(Disposable::dispose);

        assertThat(parts.subList(1, 4))
                .containsExactly(
                        "event: list\ndata: [0]\n\n", "event: list\ndata: [1]\n\n", "event: list\ndata: [2]\n\n");
        assertThat(read).hasValueGreaterThanOrEqualTo(6);
        assertThat(computed).hasValue(0);
    }

    @Test
    void aListThatFailsIsReadAgain() {
        AtomicInteger tries = new AtomicInteger();
        LiveLists lists = new LiveLists(Map.of(
                "list",
                source(() ->
                        tries.incrementAndGet() == 1 ? Mono.error(new IllegalStateException("no")) : Mono.just("x"))));
        for (int i = 0; i < LiveLists.TICKS; i++) {
            lists.tick(Set.of("list"));
        }
        assertThat(tries).hasValue(1);
        assertThat(lists.event("list")).isNull();

        lists.tick(Set.of("list"));

        assertThat(lists.event("list")).asString(StandardCharsets.UTF_8).isEqualTo("event: list\ndata: \"x\"\n\n");
        lists.tick(Set.of());
        assertThat(lists.event("list")).isNull();
    }

    @Test
    void aReaderThatDoesNotReadIsCutOff() {
        AtomicReference<Throwable> error = new AtomicReference<>();
        events.of(Set.of("count")).subscribe(new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                subscription.request(1);
            }

            @Override
            protected void hookOnNext(byte[] part) {
                assertThat(part).startsWith(':'); // and asks for no more
            }

            @Override
            protected void hookOnError(Throwable thrown) {
                error.set(thrown);
            }
        });

        await().atMost(PATIENCE).until(() -> error.get() != null);
        assertThat(error.get()).hasMessageContaining("overrun");
        assertThat(events.readers()).isZero();
    }
}
