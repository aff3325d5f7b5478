// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.QoS;
import io.smqtt.spi.FoundSession;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.topic.SharedFilter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Queues of shared groups in the store of another node, which this one has adopted. */
class AdoptedGroupsTest {

    private static final String HOME = "home";
    private static final SharedFilter GROUP = SharedFilter.of("$share/g/t");
    private static final long QUEUE = 9;

    private final FoundStore own = new FoundStore();
    private final FoundStore adopted = new FoundStore();
    private final SessionBench bench = new SessionBench(2, LimitsConfig.defaults(), SessionConfig.defaults(), own);
    private final RecordingSink sink = new RecordingSink();

    private void run() {
        for (int i = 0; i < 20; i++) {
            bench.run();
            own.commit();
            adopted.commit();
        }
        bench.run();
    }

    /** The queues are looked at again. */
    private void timePasses() {
        bench.executors.forEach(ManualLoop::timePasses);
    }

    private void queue(QoS qos, String... texts) {
        List<StoredMessage> rows = new ArrayList<>();
        for (String text : texts) {
            rows.add(new StoredMessage(
                    GroupRecord.FIRST_WAITING + rows.size(),
                    bench.message("t", text, qos),
                    GROUP.toString(),
                    qos,
                    false,
                    new int[0],
                    StoredDelivery.WAITING));
        }
        StoredSession header = new StoredSession(
                QUEUE,
                GroupRecord.id(GROUP),
                null,
                Stores.ENDLESS_SECONDS,
                StoredSession.NEVER,
                null,
                StoredSession.CONNECTED);
        StoredQueue waiting =
                new StoredQueue(GroupRecord.FIRST_WAITING, GroupRecord.FIRST_WAITING + rows.size(), rows.size(), 100);
        adopted.sessions.put(QUEUE, new FoundSession(header, waiting, List.of(), List.of()));
        adopted.messages.put(QUEUE, List.copyOf(rows));
    }

    private void start() {
        bench.registry.recover();
        run();
    }

    private AdoptedStore adopt() {
        CompletableFuture<AdoptedStore> begun = bench.registry.adoptions().begin(HOME, 7, adopted);
        run();
        return begun.join();
    }

    private void member() {
        SessionBench.Outcome outcome = bench.request("m", 0, false, 3_600, sink);
        run();
        SessionBench.subscribe(Objects.requireNonNull(outcome.session), GROUP.toString(), QoS.EXACTLY_ONCE);
        run();
    }

    private List<String> left() {
        return adopted.messages.get(QUEUE).stream()
                .map(row -> row.message().payload().asString())
                .toList();
    }

    @Test
    void membersGetThemOnceInTheirOrder() {
        queue(QoS.EXACTLY_ONCE, "1", "2", "3");
        start();
        adopt();
        member();
        timePasses();
        run();
        timePasses();
        run();

        assertThat(sink.texts()).containsExactly("1", "2", "3");
        assertThat(left()).isEmpty();
        assertThat(bench.registry.queuedForGroups()).isZero();
    }

    @Test
    void theyWaitInTheStoreForAMember() {
        queue(QoS.AT_LEAST_ONCE, "1", "2");
        start();
        adopt();
        timePasses();
        run();
        assertThat(left()).containsExactly("1", "2");

        member();
        timePasses();
        run();

        assertThat(sink.texts()).containsExactly("1", "2");
        assertThat(left()).isEmpty();
    }

    @Test
    void whatMembersHaveNoRoomForStaysInTheStoreWhenItIsGivenBack() {
        String[] all = IntStream.range(0, 250).mapToObj(Integer::toString).toArray(String[]::new);
        queue(QoS.AT_LEAST_ONCE, all);
        sink.sendMaximum = 10;
        start();
        AdoptedStore store = adopt();
        member();
        for (int i = 0; i < 5; i++) {
            timePasses();
            run();
        }
        assertThat(sink.texts()).hasSize(10);
        int moved = 250 - left().size();
        assertThat(moved).isBetween(10, 200);

        CompletableFuture<Void> end = store.end();
        run();
        timePasses();
        run();

        assertThat(end).isCompleted();
        assertThat(left()).containsExactly(List.of(all).subList(moved, 250).toArray(String[]::new));
        assertThat(bench.registry.queuedForGroups()).isEqualTo(moved - 10);
    }

    /** Another node serves the store, and this one does not know it yet. */
    @ParameterizedTest
    @EnumSource(
            value = QoS.class,
            names = {"AT_LEAST_ONCE", "EXACTLY_ONCE"})
    void aMemberDoesNotGetWhatTheStoreDoesNotGive(QoS qos) {
        queue(qos, "1", "2");
        start();
        AdoptedStore store = adopt();
        member();
        adopted.failing = true;
        timePasses();
        run();

        assertThat(sink.texts()).isEmpty();
        assertThat(own.put).containsExactly("1", "2");
        assertThat(own.removedMessages).as("removed again").hasSize(2);
        assertThat(bench.registry.queuedForGroups()).isZero();
        store.forget();
        run();
        assertThat(left()).containsExactly("1", "2");
    }

    @Test
    void theStoreKeepsWhatCouldNotBeStoredHere() {
        queue(QoS.EXACTLY_ONCE, "1");
        start();
        adopt();
        member();
        own.failing = true;
        timePasses();
        run();
        assertThat(left()).containsExactly("1");
        assertThat(sink.texts()).isEmpty();

        own.failing = false;
        for (int i = 0; i < 10; i++) {
            timePasses();
            run();
        }

        assertThat(sink.texts()).containsExactly("1");
        assertThat(left()).isEmpty();
    }

    @Test
    void theStoreIsNotClosedWhileAMessageIsInBoth() {
        queue(QoS.EXACTLY_ONCE, "1");
        start();
        AdoptedStore store = adopt();
        member();
        timePasses();
        bench.run();

        CompletableFuture<Void> forgotten = store.forget();
        bench.run();
        assertThat(forgotten).as("it is stored in neither").isNotDone();
        own.commit();
        bench.run();
        assertThat(own.put).containsExactly("1");
        assertThat(forgotten).as("its row is there").isNotDone();
        run();

        assertThat(forgotten).isCompleted();
        assertThat(left()).isEmpty();
        assertThat(sink.texts()).containsExactly("1");
    }

    @Test
    void aQueueWithoutAGroupStays() {
        queue(QoS.EXACTLY_ONCE, "1");
        start();
        bench.request("x", 0, false, 3_600, sink);
        AdoptedStore store = adopt();
        timePasses();
        run();
        store.end();
        run();

        assertThat(left()).containsExactly("1");
    }
}
