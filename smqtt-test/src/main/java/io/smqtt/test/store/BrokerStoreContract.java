// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.store;

import static io.smqtt.test.store.StoreSamples.fullMessage;
import static io.smqtt.test.store.StoreSamples.large;
import static io.smqtt.test.store.StoreSamples.message;
import static io.smqtt.test.store.StoreSamples.queued;
import static io.smqtt.test.store.StoreSamples.session;
import static io.smqtt.test.store.StoreSamples.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.FoundSession;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.topic.TopicName;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The contract of a store: see {@link BrokerStore} and {@link StoreWriter}. Extend it and say how yours is opened. */
public abstract class BrokerStoreContract extends SessionStoreContract {

    private static final StoredDelivery RECEIVED = new StoredDelivery(StoredDelivery.State.RECEIVED, 1);

    /** For extensions. */
    protected BrokerStoreContract() {}

    // --- positions and commits ---

    @Test
    void aNewStoreIsEmptyHealthyAndIdle() {
        assertThat(recovered().sessions()).isEmpty();
        assertThat(recovered().retained()).isEmpty();
        assertThat(store().isHealthy()).isTrue();
        assertThat(loop().<Boolean>call(StoreWriter::isOverloaded)).isFalse();
        assertThat(loop().<Long>call(StoreWriter::position)).isZero();
    }

    @Test
    void thePositionGrowsWithEveryOperation() {
        long position = loop().call(writer -> {
            writer.putSession(session(1, "a"));
            long first = writer.position();
            writer.putReceived(1, 1);
            assertThat(writer.position()).isGreaterThan(first);
            writer.flush();
            return writer.position();
        });

        loop().awaitTold(position);

        assertThat(loop().safe()).isEqualTo(position);
        assertThat(loop().failures()).isEmpty();
    }

    @Test
    void commitsAreToldOnTheLoopInOrderAndUpToTheEndOfFlushes() {
        Set<Long> ends = new HashSet<>();
        for (int i = 1; i <= 200; i++) {
            int number = i;
            ends.add(loop().flush(writer -> {
                writer.putRetained(message("a/" + number, "1"));
                writer.putRetained(message("b/" + number, "1"));
            }));
        }
        loop().commit(writer -> writer.putRetained(message("end", "1")));

        List<Long> commits = loop().commits();
        ends.add(loop().safe());
        assertThat(commits).isSorted().doesNotHaveDuplicates();
        assertThat(ends).containsAll(commits);
        assertThat(loop().wasCalledElsewhere()).isFalse();
    }

    @Test
    void aFlushOfNothingTellsNothing() {
        loop().flush(StoreWriter::flush);
        long position = loop().commit(writer -> writer.putReceived(1, 1));
        loop().flush(writer -> {});
        loop().commit(writer -> writer.putReceived(1, 2));

        assertThat(loop().commits()).hasSize(2).startsWith(position);
    }

    @Test
    void everyLoopIsToldOfItsOwnOperations() {
        StoreLoop other = newLoop();

        long mine = loop().commit(writer -> {
            writer.putRetained(message("mine", "1"));
            writer.putRetained(message("mine/too", "1"));
        });
        long others = other.commit(writer -> writer.putRetained(message("theirs", "1")));

        assertThat(loop().safe()).isEqualTo(mine);
        assertThat(other.safe()).isEqualTo(others);
        assertThat(other.wasCalledElsewhere()).isFalse();
    }

    @Test
    void operationsOfDifferentLoopsKeepTheOrderOfTheirFlushes() {
        StoreLoop other = newLoop();
        for (int i = 0; i < 100; i++) {
            String payload = "" + i;
            (i % 2 == 0 ? loop() : other).flush(writer -> writer.putRetained(message("t", payload)));
        }

        reopen();

        assertThat(recovered().retained("t").payload().asString()).isEqualTo("99");
    }

    // --- messages ---

    @Test
    void messagesComeBackInOrderWithAllThatIsKnownOfThem() {
        long number = number();
        StoredMessage full = new StoredMessage(
                7,
                fullMessage(ticker().nanoTime(), 4_294_967_295L),
                "$share/grüppe/höuse/#",
                QoS.EXACTLY_ONCE,
                true,
                new int[] {1, 268_435_455},
                SENT);
        StoredMessage plain = queued(300, message("t", ""));
        loop().commit(writer -> {
            writer.putSession(session(number, "client"));
            writer.putMessage(number, full);
            writer.putMessage(number, plain);
        });

        assertThat(page(number, 0, 10).messages())
                .extracting(StoreSamples::text)
                .containsExactly(text(full), text(plain));
        reopen();
        assertThat(page(number, 0, 10).messages())
                .extracting(StoreSamples::text)
                .containsExactly(text(full), text(plain));
    }

    @Test
    void aReadSeesWhatWasFlushedBefore() {
        long number = number();
        for (int i = 1; i <= 50; i++) {
            int sequence = i;
            loop().flush(writer -> writer.putMessage(number, queued(sequence, message("t", "" + sequence))));
            assertThat(payloads(number)).hasSize(sequence).last().isEqualTo("" + sequence);
        }
    }

    @Test
    void anAnswerComesOnTheLoop() {
        CompletableFuture<Thread> loopThread = CompletableFuture.supplyAsync(Thread::currentThread, loop().executor());
        CompletableFuture<Thread> answered = new CompletableFuture<>();

        store().read(1, 0, 1, 1, loop().executor(), page -> answered.complete(Thread.currentThread()));

        assertThat(StoreLoop.get(answered)).isSameAs(StoreLoop.get(loopThread));
    }

    @Test
    void pagesEndAtACountOfMessages() {
        long number = number();
        loop().commit(writer ->
                LongStream.rangeClosed(1, 25).forEach(i -> writer.putMessage(number, queued(i, message("t", "" + i)))));

        assertThat(sequences(number, 0, 10)).containsExactlyElementsOf(range(1, 10));
        assertThat(sequences(number, 11, 10)).containsExactlyElementsOf(range(11, 20));
        assertThat(sequences(number, 21, 10)).containsExactlyElementsOf(range(21, 25));
        assertThat(sequences(number, 26, 10)).isEmpty();
        assertThat(sequences(number, Long.MAX_VALUE, 10)).isEmpty();
        assertThat(sequences(number + 1, 0, 10)).isEmpty();
    }

    @Test
    void pagesEndAboutAtACountOfBytesButAreNotEmpty() {
        long number = number();
        loop().commit(writer ->
                LongStream.rangeClosed(1, 10).forEach(i -> writer.putMessage(number, queued(i, large("t", 10_000)))));

        assertThat(page(number, 0, 10, 1).messages()).hasSize(1);
        assertThat(page(number, 0, 10, 35_000).messages()).hasSizeBetween(2, 5);
        assertThat(page(number, 0, 10, 10_000_000).messages()).hasSize(10);
    }

    @Test
    void queuesOfSessionsAreApart() {
        long[] numbers = LongStream.range(0, 300).map(i -> number()).toArray();
        loop().commit(writer -> {
            for (long number : numbers) {
                writer.putMessage(number, queued(1, message("t", number + "a")));
                writer.putMessage(number, queued(2, message("t", number + "b")));
            }
        });

        for (long number : numbers) {
            assertThat(payloads(number)).containsExactly(number + "a", number + "b");
        }
    }

    @Test
    void theStateOfADeliveryComesBack() {
        long number = number();
        loop().commit(writer -> {
            writer.putSession(session(number, "client"));
            LongStream.rangeClosed(1, 4).forEach(i -> writer.putMessage(number, queued(i, message("t", "" + i))));
            writer.putDelivery(number, 2, SENT);
        });
        loop().commit(writer -> {
            writer.putDelivery(number, 3, SENT);
            writer.putDelivery(number, 3, RECEIVED);
        });
        loop().commit(writer -> writer.putDelivery(number, 2, RECEIVED));
        reopen();

        assertThat(page(number, 0, 10).messages())
                .extracting(StoredMessage::delivery)
                .containsExactly(StoredDelivery.WAITING, RECEIVED, RECEIVED, StoredDelivery.WAITING);
    }

    @Test
    void oneSessionIsFoundWithAllThatBelongsToItButItsMessages() throws Exception {
        long number = number();
        long other = number();
        loop().commit(writer -> {
            writer.putSession(session(number, "client"));
            writer.putSession(session(other, "other"));
            writer.putSubscription(number, new StoredSubscription("a/+", QoS.AT_LEAST_ONCE, false, true, 7));
            writer.putSubscription(other, new StoredSubscription("b", QoS.AT_LEAST_ONCE, false, true, 7));
            writer.putReceived(number, 65_535);
            writer.putMessage(number, queued(1, message("t", "1")));
        });
        reopen();
        recovered();

        CompletableFuture<FoundSession> found = new CompletableFuture<>();
        store().find(number, Runnable::run, found::complete, found::completeExceptionally);
        FoundSession read = found.get(30, TimeUnit.SECONDS);
        assertThat(read.session().clientId()).isEqualTo("client");
        assertThat(read.waiting().messages()).isOne();
        assertThat(read.subscriptions())
                .containsExactly(new StoredSubscription("a/+", QoS.AT_LEAST_ONCE, false, true, 7));
        assertThat(read.received()).containsExactly(65_535);

        CompletableFuture<Boolean> missing = new CompletableFuture<>();
        store().find(
                        1L << 40,
                        Runnable::run,
                        no -> missing.complete(false),
                        failure -> missing.complete(failure == null));
        assertThat(missing.get(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void removedMessagesAreGoneWhereverTheyWere() {
        long number = number();
        loop().commit(writer -> {
            writer.putSession(session(number, "client"));
            LongStream.rangeClosed(1, 6).forEach(i -> writer.putMessage(number, queued(i, message("t", "" + i))));
            writer.removeMessage(number, 5);
            writer.putDelivery(number, 1, SENT);
        });
        loop().commit(writer -> writer.removeMessage(number, 3));
        loop().commit(writer -> {
            writer.putDelivery(number, 1, RECEIVED);
            writer.removeMessage(number, 1);
            writer.removeMessage(number, 99);
        });

        assertThat(payloads(number)).containsExactly("2", "4", "6");
        reopen();
        assertThat(payloads(number)).containsExactly("2", "4", "6");
        StoredQueue waiting = recovered().session(number).waiting();
        assertThat(waiting.firstSequence()).isEqualTo(2);
        assertThat(waiting.nextSequence()).isEqualTo(7);
        assertThat(waiting.messages()).isEqualTo(3);
        assertThat(waiting.bytes()).isEqualTo(3L * message("t", "1").footprintBytes());
    }

    @Test
    void theNextSequenceNumberIsRememberedWhenNothingWaits() {
        long number = number();
        loop().commit(writer -> {
            writer.putSession(session(number, "client"));
            LongStream.rangeClosed(1, 6).forEach(i -> writer.putMessage(number, queued(i, message("t", "" + i))));
        });
        loop().commit(writer -> LongStream.rangeClosed(1, 6).forEach(i -> writer.removeMessage(number, 7 - i)));
        reopen();

        assertThat(recovered().session(number).waiting()).isEqualTo(new StoredQueue(7, 7, 0, 0));
    }

    @Test
    void firstIsTheLowestNumberAlsoIfOthersWereRemovedBeforeIt() {
        long number = number();
        loop().commit(writer -> {
            writer.putSession(session(number, "client"));
            LongStream.rangeClosed(1, 6).forEach(i -> writer.putMessage(number, queued(i, message("t", "" + i))));
        });
        loop().commit(writer -> writer.removeMessage(number, 2));
        loop().commit(writer -> writer.removeMessage(number, 3));
        loop().commit(writer -> writer.removeMessage(number, 1));
        reopen();

        assertThat(recovered().session(number).waiting().firstSequence()).isEqualTo(4);
        assertThat(sequences(number, recovered().session(number).waiting().firstSequence(), 10))
                .containsExactly(4L, 5L, 6L);
    }

    @Test
    void aMessageOfManySessionsStaysUntilTheLastOneIsDone() {
        ApplicationMessage shared = large("shared", 100_000);
        long[] numbers = LongStream.range(0, 5).map(i -> number()).toArray();
        loop().commit(writer -> {
            for (long number : numbers) {
                writer.putSession(session(number, "client-" + number));
                writer.putMessage(number, queued(1, shared));
            }
        });
        loop().commit(writer -> writer.removeMessage(numbers[0], 1));
        loop().commit(writer -> {
            writer.removeMessage(numbers[1], 1);
            writer.removeSession(numbers[2], "client-" + numbers[2]);
        });
        reopen();

        for (int i : new int[] {3, 4}) {
            assertThat(page(numbers[i], 0, 10).messages())
                    .extracting(found -> text(found.message()))
                    .containsExactly(text(shared));
        }
        assertThat(payloads(numbers[0])).isEmpty();
        assertThat(payloads(numbers[1])).isEmpty();
        loop().commit(writer -> {
            writer.removeMessage(numbers[3], 1);
            writer.removeMessage(numbers[4], 1);
        });
        assertThat(payloads(numbers[3])).isEmpty();
        assertThat(payloads(numbers[4])).isEmpty();
    }

    // --- retained messages ---

    @Test
    void retainedMessagesComeBack() {
        ApplicationMessage full = fullMessage(ticker().nanoTime(), 4_294_967_295L);
        loop().commit(writer -> {
            writer.putRetained(full);
            writer.putRetained(message("a", "1"));
            writer.putRetained(message("a/b", "1"));
            writer.putRetained(message("b", "1"));
        });
        loop().commit(writer -> {
            writer.putRetained(message("a/b", "2"));
            writer.removeRetained(TopicName.of("b"));
            writer.removeRetained(TopicName.of("never/there"));
        });
        reopen();

        assertThat(recovered().retained())
                .containsOnlyKeys("a", "a/b", full.topic().value());
        assertThat(text(recovered().retained(full.topic().value()))).isEqualTo(text(full));
        assertThat(recovered().retained("a/b").payload().asString()).isEqualTo("2");
    }

    @Test
    void versionsOfRetainedMessagesAndOfTheirRemovalsComeBack() {
        RetainedVersion first = new RetainedVersion(RetainedVersion.clockOf(1_700_000_000_000L), "node-1");
        RetainedVersion second = new RetainedVersion(Long.MAX_VALUE, "nœud");
        loop().commit(writer -> {
            writer.putRetained(message("versioned", "1"), first);
            writer.putRetained(message("replaced", "1"), first);
            writer.putRetained(message("without", "1"), first);
            writer.putRetained(message("removed", "1"), first);
            writer.putRetained(message("forgotten", "1"), first);
            writer.putRetainedRemoval(TopicName.of("never/there"), first);
            writer.putNote("one", new byte[] {1});
            writer.putNote("other", new byte[0]);
        });
        loop().commit(writer -> {
            writer.putRetained(message("replaced", "2"), second);
            writer.putRetained(message("without", "2"));
            writer.putRetainedRemoval(TopicName.of("removed"), second);
            writer.putRetainedRemoval(TopicName.of("forgotten"), second);
            writer.putNote("one", new byte[] {2, 3});
        });
        loop().commit(writer -> writer.removeRetained(TopicName.of("forgotten")));
        reopen();

        assertThat(recovered().retained()).containsOnlyKeys("versioned", "replaced", "without");
        assertThat(recovered().retained("replaced").payload().asString()).isEqualTo("2");
        assertThat(recovered().versions())
                .isEqualTo(Map.of("versioned", first, "replaced", second, "removed", second, "never/there", first));
        assertThat(recovered().notes()).containsOnlyKeys("one", "other");
        assertThat(recovered().notes().get("one")).containsExactly(2, 3);
        assertThat(recovered().notes().get("other")).isEmpty();
    }

    // --- time ---

    @Test
    void theClockGoesWithTheBrokersAndNeverBack() {
        long before = store().clockMillis();
        ticker().advanceMillis(5_000);
        long after = store().clockMillis();
        assertThat(after - before).isBetween(4_999L, 5_001L);
        loop().commit(writer -> writer.putReceived(1, 1));

        reopen();
        assertThat(store().clockMillis()).isGreaterThanOrEqualTo(after);
        ticker().advanceMillis(5_000);
        assertThat(store().clockMillis()).isGreaterThanOrEqualTo(after + 4_999);
    }

    @Test
    void messagesWaitOnWhileTheBrokerHasAnotherClock() {
        long number = number();
        ApplicationMessage message = fullMessage(ticker().nanoTime(), 100);
        loop().commit(writer -> {
            writer.putSession(session(number, "client"));
            writer.putMessage(number, queued(1, message));
            writer.putRetained(message);
        });
        ticker().advanceMillis(40_000);

        reopen();

        long now = ticker().nanoTime();
        ApplicationMessage retained = recovered().retained(message.topic().value());
        assertThat(retained.remainingExpirySeconds(now)).isBetween(20L, 61L);
        assertThat(page(number, 0, 1).messages().get(0).message().remainingExpirySeconds(now))
                .isBetween(20L, 61L);
    }

    // --- crashes ---

    @Test
    void whatWasCommittedIsInACopyThatIsTakenAtOnce() {
        long number = number();
        for (int run = 1; run <= 5; run++) {
            int last = run * 20;
            for (int i = last - 19; i <= last; i++) {
                long sequence = i;
                loop().flush(writer -> writer.putMessage(number, queued(sequence, message("t", "" + sequence))));
            }
            loop().commit(writer -> {
                fill(writer, number + 10, "other");
                writer.putSession(session(number, "client"));
                writer.requireSync();
            });
            useCopy();

            assertThat(recovered().session(number).waiting().messages()).isEqualTo(last);
            assertThat(payloads(number)).hasSize(last);
            assertThat(recovered().session(number + 10).received()).containsExactly(7);
        }
    }

    @Test
    void aFlushIsKeptWholeOrNotAtAll() {
        long left = number();
        long right = number();
        loop().commit(writer -> {
            writer.putSession(session(left, "left"));
            writer.putSession(session(right, "right"));
        });
        for (int run = 0; run < 5; run++) {
            long from = run * 1_000L;
            for (int i = 1; i <= 500; i++) {
                long sequence = from + i;
                loop().flush(writer -> {
                    writer.putMessage(left, queued(sequence, message("t", "" + sequence)));
                    writer.putRetained(message("count", "" + sequence));
                    writer.putMessage(right, queued(sequence, message("t", "" + sequence)));
                });
            }
            long committed = loop().safe();
            useCopy();

            List<Long> found = sequences(left, from + 1, 1_000);
            assertThat(sequences(right, from + 1, 1_000)).isEqualTo(found);
            assertThat(found).isEqualTo(range(from + 1, from + found.size()));
            assertThat((long) found.size()).isGreaterThanOrEqualTo((committed - 2) / 3);
            if (!found.isEmpty()) {
                assertThat(recovered().retained("count").payload().asString()).isEqualTo("" + (from + found.size()));
            }
        }
    }

    @Test
    void closingCommitsWhatWasFlushed() {
        long number = number();
        loop().flush(writer -> writer.putSession(session(number, "client")));
        for (int i = 1; i <= 2_000; i++) {
            long sequence = i;
            loop().flush(writer -> writer.putMessage(number, queued(sequence, message("t", "" + sequence))));
        }
        reopen();

        assertThat(sequences(number, 0, 10_000)).isEqualTo(range(1, 2_000));
    }

    @Test
    void aStoreCanBeClosedMoreThanOnce() {
        store().close();
        store().close();
        long position = loop().flush(writer -> writer.putReceived(1, 1));
        loop().awaitTold(position);

        assertThat(loop().failures()).hasSize(1);
        assertThat(loop().safe()).isZero();
    }

    @Test
    void randomOperationsLeaveWhatAModelSays() {
        for (long seed = 1; seed <= 20; seed++) {
            StoreModel model = new StoreModel(seed);
            for (int flush = 0; flush < 30; flush++) {
                loop().flush(writer -> model.change(writer, this::number));
            }
            loop().commit(writer -> writer.putRetained(message("end", "1")));

            if (seed % 2 == 0) {
                reopen();
            } else {
                useCopy();
            }

            model.requireSame(recovered(), number -> page(number, 0, 10_000).messages());
            model.clear(loop());
        }
    }
}
