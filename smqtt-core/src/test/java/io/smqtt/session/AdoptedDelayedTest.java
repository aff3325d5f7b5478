// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.DelayedConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.FoundSession;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Delayed messages in the store of another node, which this one has adopted. */
class AdoptedDelayedTest {

    private static final String HOME = "home";
    private static final long QUEUE = 9;

    private FoundStore own = new FoundStore();
    private final FoundStore adopted = new FoundStore();
    private SessionBench bench = bench();

    /** The task of the cluster before the store is given back. */
    private @Nullable Runnable quiet;

    private SessionBench bench() {
        return new SessionBench(2, LimitsConfig.defaults(), SessionConfig.defaults(), own);
    }

    private void run() {
        for (int i = 0; i < 20; i++) {
            bench.run();
            own.commit();
            adopted.commit();
        }
        bench.run();
    }

    private void pass(Duration time) {
        bench.pass(time);
        run();
    }

    /** An absent session, which takes all messages of the topic "t" at QoS 2. */
    private static void session(FoundStore store, long number, String clientId) {
        StoredSession header =
                new StoredSession(number, clientId, null, 3_600, StoredSession.NEVER, null, StoredSession.CONNECTED);
        StoredSubscription subscription =
                new StoredSubscription("t", QoS.EXACTLY_ONCE, false, false, Subscription.NO_IDENTIFIER);
        store.sessions.put(
                number, new FoundSession(header, new StoredQueue(1, 1, 0, 0), List.of(subscription), List.of()));
    }

    /** Messages that are due after 10 s, 20 s and so on. */
    private void delayed(FoundStore store, QoS qos, String... texts) {
        List<StoredMessage> rows = new ArrayList<>();
        for (String text : texts) {
            long sequence = rows.size() + 1;
            ApplicationMessage message = bench.message("t", text, qos);
            long due = bench.nanos + TimeUnit.SECONDS.toNanos(10 * sequence);
            rows.add(new StoredMessage(
                    sequence,
                    message.accepted(message.id(), due, "publisher"),
                    "#",
                    qos,
                    false,
                    new int[] {60},
                    StoredDelivery.WAITING));
        }
        StoredSession header = new StoredSession(
                QUEUE,
                DelayedMessages.ID,
                null,
                Stores.ENDLESS_SECONDS,
                StoredSession.NEVER,
                null,
                StoredSession.CONNECTED);
        store.sessions.put(
                QUEUE,
                new FoundSession(header, new StoredQueue(1, rows.size() + 1L, rows.size(), 100), List.of(), List.of()));
        store.messages.put(QUEUE, rows);
    }

    private DelayedMessages start() {
        DelayedMessages messages = bench.registry.delay(DelayedConfig.defaults());
        bench.registry.rememberTaken();
        bench.registry.adoptions().watch(new AdoptionWatch() {
            @Override
            public void adopted(String home, long reign, List<String> leftOut, NodeQueues parked) {
                // the steps of the cluster are those of the test
            }

            @Override
            public void ending(String home, Runnable done) {
                quiet = done;
            }
        });
        bench.registry.recover();
        run();
        return messages;
    }

    private AdoptedStore adopt() {
        CompletableFuture<AdoptedStore> begun = bench.registry.adoptions().begin(HOME, 7, adopted);
        run();
        return begun.join();
    }

    private AdoptedStore adoptAndSettle() {
        AdoptedStore store = adopt();
        bench.registry.adoptions().settled(HOME);
        run();
        return store;
    }

    private static List<String> texts(DelayedMessages messages) {
        return messages.list(0, 10).stream()
                .map(one -> one.message().payload().asString())
                .toList();
    }

    @Test
    void theyArePublishedInTheirTimeWhenTheSessionsMayMove() {
        session(own, 3, "x");
        delayed(adopted, QoS.EXACTLY_ONCE, "first", "second");
        DelayedMessages messages = start();
        adopt();
        assertThat(texts(messages)).as("before all nodes know the server").isEmpty();

        bench.registry.adoptions().settled(HOME);
        run();
        assertThat(texts(messages)).containsExactly("first", "second");
        assertThat(messages.count()).isEqualTo(2);
        pass(Duration.ofMillis(10_100));

        assertThat(own.put).containsExactly("first");
        assertThat(adopted.removedMessages).containsExactly(QUEUE + "/1");
        assertThat(texts(messages)).containsExactly("second");
        pass(Duration.ofMillis(10_100));

        assertThat(own.put).containsExactly("first", "second");
        assertThat(adopted.removedMessages).containsExactly(QUEUE + "/1", QUEUE + "/2");
        assertThat(messages.published()).isEqualTo(2);
        assertThat(messages.bytes()).isZero();
    }

    @Test
    void sessionsOfTheStoreGetThemToo() {
        session(adopted, 3, "x");
        delayed(adopted, QoS.EXACTLY_ONCE, "first");
        start();
        adopt();
        bench.registry.adoptions().sentOn(HOME);
        bench.registry.adoptions().settled(HOME);
        run();
        pass(Duration.ofMillis(10_100));

        assertThat(adopted.put).containsExactly("first");
        assertThat(adopted.removedMessages).containsExactly(QUEUE + "/1");
    }

    @Test
    void whatWaitsWhenTheStoreIsGivenBackStaysThere() {
        session(own, 3, "x");
        delayed(own, QoS.AT_LEAST_ONCE, "own");
        delayed(adopted, QoS.EXACTLY_ONCE, "first", "second");
        DelayedMessages messages = start();
        AdoptedStore store = adoptAndSettle();
        assertThat(texts(messages)).hasSize(3);

        CompletableFuture<Void> end = store.end();
        run();
        assertThat(texts(messages)).containsExactly("own");
        assertThat(messages.count()).isOne();
        pass(Duration.ofMinutes(1));
        Objects.requireNonNull(quiet).run();
        run();

        assertThat(end).isCompleted();
        assertThat(own.put).containsExactly("own");
        assertThat(adopted.removedMessages).isEmpty();
    }

    @Test
    void aStoreIsNotClosedBeforeWhatWasPublishedIsRemoved() {
        session(own, 3, "x");
        delayed(adopted, QoS.EXACTLY_ONCE, "first");
        start();
        AdoptedStore store = adoptAndSettle();
        bench.pass(Duration.ofMillis(10_100));

        CompletableFuture<Void> forgotten = store.forget();
        for (int i = 0; i < 5; i++) {
            bench.run();
        }
        assertThat(forgotten).as("the receiver has not stored it").isNotDone();
        own.commit();
        bench.run();
        assertThat(forgotten).as("the removal is not committed").isNotDone();
        run();

        assertThat(forgotten).isCompleted();
        assertThat(adopted.removedMessages).containsExactly(QUEUE + "/1");
    }

    @Test
    void oneIsCancelledInItsOwnStoreOnly() {
        delayed(own, QoS.AT_LEAST_ONCE, "own");
        delayed(adopted, QoS.AT_LEAST_ONCE, "adopted");
        DelayedMessages messages = start();
        adoptAndSettle();
        DelayedMessage found = messages.list(0, 10).stream()
                .filter(one -> one.message().payload().asString().equals("adopted"))
                .findFirst()
                .orElseThrow();
        assertThat(messages.find(found.message().id())).isSameAs(found);
        List<Boolean> outcomes = new ArrayList<>();

        messages.cancel(found).subscribe(outcomes::add);
        run();
        messages.cancel(found).subscribe(outcomes::add);
        run();

        assertThat(outcomes).containsExactly(true, false);
        assertThat(texts(messages)).containsExactly("own");
        assertThat(adopted.removedMessages).containsExactly(QUEUE + "/1");
        assertThat(own.removedMessages).isEmpty();
    }

    /** The first adopter has failed when the receiver had stored the message, and before its row was removed. */
    @Test
    void aSecondServerOfTheStoreDoesNotRepeatWhatReceiversHave() {
        session(own, 3, "x");
        delayed(adopted, QoS.EXACTLY_ONCE, "first");
        start();
        adoptAndSettle();
        adopted.failing = true;
        pass(Duration.ofMillis(10_100));
        assertThat(own.put).containsExactly("first");
        FoundStore next = new FoundStore();
        next.notes.putAll(own.notes);
        session(next, 3, "x");
        own = next;
        adopted.failing = false;
        adopted.removedMessages.clear();
        long now = bench.nanos;
        bench = bench();
        bench.nanos = now;
        start();

        adoptAndSettle();
        pass(Duration.ofSeconds(1));

        assertThat(own.put).isEmpty();
        assertThat(adopted.removedMessages).containsExactly(QUEUE + "/1");
    }

    /** Another node has published it, and failed before its row was removed; then its home was started. */
    @Test
    void whatWasReadFromTheStoreIsNotRepeatedEither() {
        session(own, 3, "x");
        delayed(own, QoS.EXACTLY_ONCE, "first");
        start();
        ApplicationMessage published =
                Objects.requireNonNull(own.messages.get(QUEUE)).get(0).message();
        HeldTicket ofRelay = new HeldTicket(1) {
            @Override
            protected void released(boolean success) {
                // that node has failed
            }

            @Override
            public boolean mayComeAgain() {
                return true;
            }
        };
        bench.router.route(bench.loop(0), published, ofRelay);
        ofRelay.release(true);
        run();
        assertThat(own.put).containsExactly("first");

        pass(Duration.ofMillis(10_100));

        assertThat(own.put).containsExactly("first");
        assertThat(own.removedMessages).contains(QUEUE + "/1");
    }
}
