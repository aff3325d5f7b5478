// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.FoundSession;
import io.smqtt.spi.RetainedMerge;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.spi.RetainedVersions;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicName;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Sessions in the store of another node, which this one has adopted, and in a store that another node has adopted. */
class AdoptionsTest {

    private static final long HOUR = 3_600;
    private static final String HOME = "home";

    private final FoundStore own = new FoundStore();
    private final FoundStore adopted = new FoundStore();
    private final SessionBench bench = new SessionBench(2, LimitsConfig.defaults(), SessionConfig.defaults(), own);
    private final RecordingSink sink = new RecordingSink();

    /** The task of the cluster before the sessions are forgotten. */
    private @Nullable Runnable quiet;

    /** The ticket of a publisher. */
    private static final class Publisher extends HeldTicket {

        private final boolean comesFirst;
        private final List<Boolean> outcomes = new ArrayList<>();

        Publisher(boolean comesFirst) {
            super(1);
            this.comesFirst = comesFirst;
        }

        @Override
        protected void released(boolean success) {
            outcomes.add(success);
        }

        @Override
        public boolean comesFirst() {
            return comesFirst;
        }

        @Override
        public boolean mayHaveCome() {
            return comesFirst;
        }

        @Override
        public boolean mayComeAgain() {
            return comesFirst;
        }
    }

    private static void found(FoundStore store, long number, String clientId, String... filters) {
        StoredSession header =
                new StoredSession(number, clientId, null, HOUR, StoredSession.NEVER, null, StoredSession.CONNECTED);
        List<StoredSubscription> subscriptions = Stream.of(filters)
                .map(filter ->
                        new StoredSubscription(filter, QoS.EXACTLY_ONCE, false, false, Subscription.NO_IDENTIFIER))
                .toList();
        store.sessions.put(number, new FoundSession(header, new StoredQueue(1, 1, 0, 0), subscriptions, List.of()));
    }

    /** Runs all tasks, and ends what they store. */
    private void run() {
        for (int i = 0; i < 20; i++) {
            bench.run();
            own.commit();
            adopted.commit();
        }
        bench.run();
    }

    private void timePasses() {
        bench.executors.forEach(ManualLoop::timePasses);
        run();
    }

    private void start() {
        bench.registry.recover();
        run();
    }

    private void watch() {
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
    }

    private AdoptedStore adopt() {
        CompletableFuture<AdoptedStore> begun = bench.registry.adoptions().begin(HOME, 7, adopted);
        run();
        return begun.join();
    }

    private Publisher publish(String topic, String text) {
        return publish(bench.message(topic, text, QoS.EXACTLY_ONCE), false);
    }

    private Publisher publish(ApplicationMessage message, boolean comesFirst) {
        Publisher publisher = new Publisher(comesFirst);
        bench.router.route(bench.loop(0), message, publisher);
        publisher.release(true);
        run();
        return publisher;
    }

    private Session session(String clientId) {
        return Objects.requireNonNull(bench.registry.find(clientId));
    }

    // --- the end

    @Test
    void sessionsOfAStoreThatTakesNothingMoreStayUntilOtherNodesHaveAnswered() {
        watch();
        found(adopted, 5, "x", "t");
        start();
        AdoptedStore store = adopt();
        bench.registry.adoptions().settled(HOME);
        run();
        adopted.failing = true;

        store.refuse();
        CompletableFuture<Void> end = store.end();
        run();

        assertThat(publish("t", "late").outcomes).as("acknowledged").containsExactly(false);
        assertThat(end).isNotDone();
        Objects.requireNonNull(quiet).run();
        run();
        assertThat(end).isCompleted();
        assertThat(bench.router.index().size()).isZero();
        assertThat(bench.registry.find("x")).isNull();
    }

    @Test
    void aSessionThatIsMovingLeavesBeforeItsStoreIsClosed() {
        found(adopted, 5, "x", "t");
        start();
        AdoptedStore store = adopt();
        SessionBench.Outcome outcome = bench.request("x", 0, false, HOUR, sink);
        bench.run();
        adopted.commit(); // it may leave
        bench.run();
        assertThat(session("x").isLeaving()).isTrue();

        CompletableFuture<Void> end = store.end();
        bench.run();
        assertThat(end).as("the store may be closed").isNotDone();
        for (int i = 0; i < 10; i++) {
            timePasses();
        }

        assertThat(end).isCompleted();
        assertThat(outcome.present).isTrue();
        assertThat(adopted.removed).containsExactly(5L);
        assertThat(session("x").home()).isNull();
    }

    @Test
    void aStopForgetsSessionsAtOnce() {
        watch();
        found(adopted, 5, "x", "t");
        start();
        AdoptedStore store = adopt();
        CompletableFuture<Void> end = store.end();

        CompletableFuture<Void> forgotten = store.forget();
        run();

        assertThat(forgotten).isCompleted();
        assertThat(end).isNotDone();
        assertThat(bench.registry.adoptions().homes()).isEmpty();
        assertThat(bench.router.index().size()).isZero();
    }

    @Test
    void theQueueOfAGroupWhoseMembersAreGivenBackStaysUntilTheirNodeIsThere() {
        found(adopted, 5, "x", "$share/g/t");
        start();
        AdoptedStore store = adopt();
        assertThat(publish("t", "waits").outcomes).containsExactly(true);
        assertThat(bench.registry.queuedForGroups()).isOne();

        store.end();
        run();

        assertThat(bench.registry.queuedForGroups()).isOne();
        timePasses(); // the node of its members was forgotten
        assertThat(bench.registry.queuedForGroups()).isZero();
    }

    // --- before all nodes have sent on what they have parked

    @Test
    void newerMessagesWaitForThoseThatWereParkedHere() {
        watch();
        found(adopted, 5, "x", "t");
        start();
        adopt();

        Publisher newer = publish("t", "newer");
        assertThat(newer.outcomes).isEmpty();
        assertThat(publish(bench.message("t", "older", QoS.EXACTLY_ONCE), true).outcomes)
                .containsExactly(true);
        bench.registry.adoptions().sentOn(HOME);
        run();

        assertThat(newer.outcomes).containsExactly(true);
        assertThat(adopted.put).containsExactly("older", "newer");
        publish("t", "newest");
        assertThat(adopted.put).containsExactly("older", "newer", "newest");
    }

    @Test
    void aMessageThatWasHeldBackAndParkedComesOnce() {
        watch();
        found(adopted, 5, "x", "t");
        start();
        adopt();
        ApplicationMessage message = bench.message("t", "both", QoS.EXACTLY_ONCE);

        Publisher publisher = publish(message, false);
        publish(message, true);
        bench.registry.adoptions().sentOn(HOME);
        run();
        publish(message, true);

        assertThat(publisher.outcomes).containsExactly(true);
        assertThat(adopted.put).containsExactly("both");
    }

    @Test
    void aSessionMayMoveWhenItsStoreIsSettled() {
        watch();
        found(own, 3, "x", "other");
        found(adopted, 5, "x", "t");
        found(adopted, 6, "y", "t");
        start();
        adopt();
        bench.registry.adoptions().sentOn(HOME); // other nodes have not
        for (int i = 0; i < 10; i++) {
            timePasses();
        }
        assertThat(bench.registry.adoptions().mayMove(session("x"))).isTrue();
        assertThat(bench.registry.adoptions().mayMove(session("y"))).isFalse();
        assertThat(adopted.removed)
                .as("merged before what is parked for it has come")
                .isEmpty();

        bench.registry.adoptions().settled(HOME);
        for (int i = 0; i < 10; i++) {
            timePasses();
        }

        assertThat(bench.registry.adoptions().mayMove(session("y"))).isTrue();
        assertThat(adopted.removed).containsExactly(5L);
        assertThat(session("x").subscriptions().size()).isEqualTo(2);
    }

    // --- what the store says about members of groups

    private static final SharedFilter GROUP = SharedFilter.of("$share/g/t");

    private boolean hasTaken(ApplicationMessage message) {
        return bench.registry.adoptions().hasTaken(message.id(), GROUP);
    }

    /** The store has it that a session, or the queue of a group, has taken a message of the group. */
    private void took(FoundStore store, long number, ApplicationMessage message) {
        long delivery = TakenNotes.delivery(number, TakenMessages.idOf(message, GROUP));
        store.notes.put(
                "taken/0/0",
                ByteBuffer.allocate(2 * Long.BYTES).putLong(1).putLong(delivery).array());
    }

    @Test
    void whatAnAdoptedMemberOfAGroupHasTakenIsKnown() {
        ApplicationMessage taken = bench.message("t", "taken", QoS.EXACTLY_ONCE);
        watch();
        found(adopted, 5, "x", "$share/g/t");
        found(adopted, 6, "y", "t");
        took(adopted, 5, taken);
        start();
        AdoptedStore store = adopt();

        assertThat(hasTaken(taken)).isTrue();
        assertThat(hasTaken(bench.message("t", "other", QoS.EXACTLY_ONCE))).isFalse();
        assertThat(bench.registry.adoptions().hasTaken(taken.id(), SharedFilter.of("$share/h/t")))
                .isFalse();
        store.forget();
        run();
        assertThat(hasTaken(taken)).isFalse();
    }

    @Test
    void whatAnAdoptedSessionOutsideOfTheGroupHasTakenDoesNotCount() {
        ApplicationMessage taken = bench.message("t", "taken", QoS.EXACTLY_ONCE);
        watch();
        found(adopted, 5, "x", "t");
        found(adopted, 6, "y", "$share/g/t");
        took(adopted, 5, taken);
        start();
        adopt();

        assertThat(hasTaken(taken)).isFalse();
    }

    /** Without a majority the own store takes nothing: another member is to get what this one cannot keep. */
    @Test
    void aMemberThatCouldNotStoreAMessageHasNotTakenIt() {
        watch();
        found(own, 3, "x", "$share/g/t");
        start();
        bench.request("x", 0, false, HOUR, sink);
        run();
        adopt();
        ApplicationMessage kept = bench.message("t", "kept", QoS.EXACTLY_ONCE);
        publish(kept, true);
        assertThat(hasTaken(kept)).isTrue();

        own.failing = true;
        ApplicationMessage lost = bench.message("t", "lost", QoS.EXACTLY_ONCE);
        publish(lost, true);

        assertThat(hasTaken(lost)).isFalse();
    }

    @Test
    void whatTheQueueOfAGroupHasTakenIsNotedAndKnownToAnAdopter() {
        found(own, 3, "x", "$share/g/t");
        start();
        ApplicationMessage message = bench.message("t", "waits", QoS.EXACTLY_ONCE);
        publish(message, true);
        assertThat(bench.registry.queuedForGroups()).isOne();
        assertThat(own.notes).hasSize(1);

        watch();
        adopted.notes.putAll(own.notes);
        found(adopted, own.newest(), GroupRecord.id(GROUP));
        adopt();

        assertThat(hasTaken(message)).isTrue();
    }

    // --- retained messages

    /** The versions of a cluster, which notes what is found in the store of another node. */
    private final class Versions implements RetainedVersions {

        private final List<String> found = new ArrayList<>();
        private boolean hadSessions;

        @Override
        public @Nullable RetainedVersion of(TopicName topic, @Nullable ApplicationMessage current) {
            return null;
        }

        @Override
        public void found(ApplicationMessage message, RetainedVersion version) {
            // the own store has none
        }

        @Override
        public void foundRemoval(TopicName topic, RetainedVersion version) {
            // the own store has none
        }

        @Override
        public void foundNote(String name, byte[] note) {
            // the own store has none
        }

        @Override
        public RetainedMerge merging(String home) {
            found.add(home);
            return new RetainedMerge() {
                @Override
                public void found(ApplicationMessage message, @Nullable RetainedVersion version) {
                    found.add(message.payload().asString() + " "
                            + Objects.requireNonNull(version).clock());
                }

                @Override
                public void foundRemoval(TopicName topic, RetainedVersion version) {
                    found.add("- " + version.clock());
                }

                @Override
                public void begin() {
                    hadSessions = bench.registry.find("x") != null;
                    found.add("complete");
                }
            };
        }
    }

    @Test
    void retainedMessagesOfTheStoreAreMergedWhenItsSessionsAreThere() {
        Versions versions = new Versions();
        bench.registry.retained().keepVersions(versions);
        found(adopted, 5, "x", "t");
        ApplicationMessage message = bench.message("a/b", "kept", QoS.AT_LEAST_ONCE);
        adopted.retained.add(message);
        adopted.removals.put(TopicName.of("c"), new RetainedVersion(9, HOME));
        start();
        adopt();

        assertThat(versions.found).containsExactly(HOME, "kept " + message.id(), "- 9", "complete");
        assertThat(versions.hadSessions).isTrue();
    }

    // --- moves and two sessions of one client

    @Test
    void theNumbersOfTheClientsNextMessagesMoveWithItsSession() {
        watch();
        StoredSession header =
                new StoredSession(5, "x", null, HOUR, StoredSession.NEVER, null, StoredSession.CONNECTED);
        Map<Integer, Long> numbers = Map.of(0, 17L, 3, 4_711L);
        adopted.sessions.put(5L, new FoundSession(header, new StoredQueue(1, 1, 0, 0), List.of(), List.of(9), numbers));
        start();
        adopt();
        bench.registry.adoptions().sentOn(HOME);
        bench.registry.adoptions().settled(HOME);
        run();

        SessionBench.Outcome outcome = bench.request("x", 0, false, HOUR, sink);
        for (int i = 0; i < 10; i++) {
            timePasses();
        }

        InboundFlow inbound = Objects.requireNonNull(outcome.session).inbound();
        assertThat(own.released).isEqualTo(numbers);
        assertThat(inbound.messageId(3, false)).isEqualTo(4_711);
        assertThat(inbound.messageId(4, false)).isEqualTo(new ExchangeNumbers(17).of(4));
        assertThat(inbound.isAwaitingRelease(9)).isTrue();
    }

    @Test
    void aMoveThatFailsWhenTheSessionIsInBothStoresIsRepeated() {
        found(adopted, 5, "x", "t");
        start();
        adopt();
        Session before = session("x");
        SessionBench.Outcome outcome = bench.request("x", 0, false, HOUR, sink);
        for (int i = 0; i < 20 && session("x") == before; i++) {
            bench.run();
            own.commit();
            adopted.commit();
        }
        assertThat(session("x")).isNotSameAs(before);

        own.failing = true;
        bench.publish(0, "t", "late", QoS.AT_LEAST_ONCE);
        for (int i = 0; i < 5; i++) {
            timePasses();
        }
        assertThat(outcome.refusal).isEqualTo(ReasonCode.SERVER_UNAVAILABLE);
        own.failing = false;
        for (int i = 0; i < 10; i++) {
            timePasses();
        }

        assertThat(adopted.removed).containsExactly(5L);
        assertThat(before.hasEnded()).isTrue();
        assertThat(session("x").hasEnded()).isFalse();
    }

    @Test
    void theLaterOneOfTwoSessionsOfAClientReplacesTheOther() {
        found(adopted, 5, "x", "before", "t");
        found(adopted, 6, "x", "t");
        start();
        adopt();

        assertThat(adopted.removed).containsExactly(5L);
        assertThat(session("x").subscriptions().size()).isOne();
        assertThat(bench.router.index().size()).isOne();
        assertThat(bench.registry.adoptions().sessions()).containsEntry(HOME, 1);
    }

    @Test
    void theBacklogOfAnAdoptedStoreSlowsPublishers() {
        start();
        AdoptedStore store = adopt();
        StoreLoop loop = Objects.requireNonNull(bench.resources.stores()).of(bench.loop(1));
        assertThat(loop.isOverloaded()).isFalse();

        adopted.overloaded = true;
        assertThat(loop.isOverloaded()).isTrue();
        store.end();
        run();

        assertThat(loop.isOverloaded()).isFalse();
    }

    // --- the own store is lost

    @Test
    void subscriptionsOfAStoreThatAnotherNodeServesStayAndRefuseMessages() {
        found(own, 3, "x", "t");
        start();
        SessionBench.Outcome outcome = bench.request("x", 0, false, HOUR, sink);
        run();
        assertThat(outcome.present).isTrue();
        own.failing = true;

        bench.registry.loseStored();
        run();

        assertThat(sink.disconnects).containsExactly(ReasonCode.SERVER_SHUTTING_DOWN);
        assertThat(bench.registry.find("x"))
                .as("a claim of another node finds it")
                .isNull();
        assertThat(publish("t", "text").outcomes).as("acknowledged").containsExactly(false);
        bench.pass(Duration.ofHours(2));
        run();
        assertThat(publish("t", "text").outcomes)
                .as("acknowledged after its expiry")
                .containsExactly(false);
    }

    @Test
    void aNodeThatServesTheStoreOfThisOneIsReported() {
        List<String> servers = new ArrayList<>();
        bench.registry.adoptions().whenServedElsewhere((server, reign) -> servers.add(server + " " + reign));

        bench.registry.adoptions().servedElsewhere("b", 9);

        assertThat(servers).containsExactly("b 9");
    }
}
