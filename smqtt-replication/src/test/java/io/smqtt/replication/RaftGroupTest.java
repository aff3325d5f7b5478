// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.spi.ReplicaStatus;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jgroups.Address;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Three members of a group in one JVM, over TCP. */
@Timeout(180)
@Execution(ExecutionMode.CONCURRENT)
class RaftGroupTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration NEXT = Duration.ofMillis(1);

    @TempDir
    private Path folder;

    private final String cluster = UUID.randomUUID().toString();
    private final List<TestMember> members = new ArrayList<>();

    @BeforeEach
    void create() {
        Map<String, Integer> ports = TestStack.ports(Set.of("a", "b", "c"));
        ports.keySet().forEach(name -> members.add(new TestMember(cluster, name, ports, folder)));
    }

    @AfterEach
    void stop() {
        members.forEach(TestMember::stop);
    }

    private TestMember leader(TestMember... except) {
        List<TestMember> others = List.of(except);
        return await().atMost(PATIENCE)
                .until(
                        () -> members.stream()
                                .filter(member -> member.leads() && !others.contains(member))
                                .findFirst()
                                .orElse(null),
                        found -> found != null);
    }

    /** No member is excluded because the machine is slow. */
    private void detectLate() {
        members.forEach(member -> member.detection = TestStack.LATE);
    }

    /** Starts all members, and waits until they are together: a view that follows may end a leadership. */
    private void start() {
        members.forEach(TestMember::start);
        await().atMost(PATIENCE)
                .until(() -> members.stream().filter(TestMember::leads).count() == 1
                        && members.stream()
                                .allMatch(member -> member.group.present().size() == members.size()
                                        && member.group.leader() != null));
    }

    private TestMember other(TestMember... than) {
        return members.stream()
                .filter(member -> !List.of(than).contains(member))
                .findFirst()
                .orElseThrow();
    }

    private static void commit(TestMember leader, String... contents) throws Exception {
        for (String content : contents) {
            leader.propose(content).get(60, TimeUnit.SECONDS);
        }
    }

    private void awaitAll(String... contents) {
        for (TestMember member : members) {
            await().atMost(PATIENCE)
                    .untilAsserted(() ->
                            assertThat(member.state.entries()).as("%s", member).containsExactly(contents));
        }
    }

    @Test
    void allMembersApplyTheSameEntries() throws Exception {
        detectLate();
        start();
        TestMember leader = leader();
        List<CompletableFuture<Long>> results = new ArrayList<>();
        String[] contents = new String[50];
        for (int i = 0; i < contents.length; i++) {
            contents[i] = "entry " + i;
            results.add(leader.propose(contents[i]));
        }
        long before = 0;
        for (CompletableFuture<Long> result : results) {
            long index = result.get(60, TimeUnit.SECONDS);
            assertThat(index).isGreaterThan(before);
            before = index;
        }

        awaitAll(contents);
        assertThat(members.stream().filter(TestMember::leads)).containsExactly(leader);
        GroupFigures figures = leader.group.figures();
        assertThat(figures.leader()).isEqualTo(leader.name);
        assertThat(figures.term()).isEqualTo(leader.term);
        assertThat(figures.isVoter()).isTrue();
        assertThat(figures.lastIndex()).isGreaterThanOrEqualTo(before); // members are admitted by an entry
        assertThat(figures.commitIndex()).isGreaterThanOrEqualTo(before);
        await().atMost(PATIENCE).untilAsserted(() -> {
            GroupFigures later = leader.group.figures();
            assertThat(later.waitingEntries()).isZero();
            assertThat(later.waitingBytes()).isZero();
            assertThat(later.lags())
                    .hasSize(2)
                    .allSatisfy((name, lag) -> assertThat(lag).isEqualTo(new ReplicaStatus.Lag(0, 0)));
            assertThat(other(leader).group.leader()).isEqualTo(leader.name);
        });
    }

    @Test
    void anotherMemberLeadsWhenTheLeaderIsKilled() throws Exception {
        start();
        TestMember first = leader();
        commit(first, "1", "2");
        long firstTerm = first.term;
        first.isolate();
        CompletableFuture<Long> lost = first.propose("lost");
        first.kill();
        assertThat(lost).isCompletedExceptionally();

        TestMember second = leader(first);
        assertThat(second.term).isGreaterThan(firstTerm);
        commit(second, "3");
        first.start();
        commit(second, "4");

        awaitAll("1", "2", "3", "4");
    }

    /** The others have not noticed its end yet, and do not admit it before. */
    @Test
    void aMemberThatWasKilledMayStartAtOnce() throws Exception {
        start();
        TestMember leader = leader();
        commit(leader, "1");
        TestMember killed = other(leader);
        killed.kill();
        killed.start();
        commit(leader(killed), "2");

        awaitAll("1", "2");
        assertThat(killed.failure).isNull();
    }

    /** Its vote and the log of the member that was away could be a majority without the last entries. */
    @Test
    void aMemberWithoutItsDiskDoesNotVoteBeforeAllHaveAnswered() throws Exception {
        start();
        TestMember leader = leader();
        TestMember away = other(leader);
        TestMember wiped = other(leader, away);
        commit(leader, "1");
        away.kill();
        commit(leader, "2");
        wiped.kill();
        wiped.wipe();
        leader.kill();

        wiped.start();
        away.start();
        long before = away.group.figures().term();
        await().atMost(PATIENCE).until(() -> away.group.figures().term() > before + 1); // two rounds without a majority
        assertThat(members).noneMatch(TestMember::leads);
        assertThat(wiped.group.figures().isVoter()).isFalse();

        leader.start();
        commit(leader(), "3");
        awaitAll("1", "2", "3");
        await().atMost(PATIENCE).until(() -> wiped.group.figures().isVoter());
    }

    @Test
    void theMinorityCommitsNothing() throws Exception {
        start();
        TestMember old = leader();
        commit(old, "1");
        long oldTerm = old.term;
        old.isolate();
        CompletableFuture<Long> lost = old.propose("lost");

        TestMember next = leader(old);
        commit(next, "2");
        await().atMost(PATIENCE).until(() -> !old.leads());
        assertThatThrownBy(() -> lost.get(60, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(NotLeadingException.class);
        assertThat(old.propose(oldTerm, "late")).isCompletedExceptionally();
        assertThat(old.state.entries()).containsExactly("1");

        old.rejoin();
        commit(leader(), "3");
        awaitAll("1", "2", "3");
    }

    @Test
    void allMembersStartAgain() throws Exception {
        start();
        commit(leader(), "1", "2");
        awaitAll("1", "2");
        members.forEach(TestMember::kill);
        start();

        commit(leader(), "3");
        awaitAll("1", "2", "3");
    }

    @Test
    void anEntryOfAnEarlierTermDoesNotCount() throws Exception {
        detectLate();
        start();
        TestMember leader = leader();

        assertThatThrownBy(() -> leader.propose(leader.term - 1, "old").get())
                .hasCauseInstanceOf(NotLeadingException.class);
        byte[] late = GroupCommand.data(leader.term - 1, "old".getBytes());
        GroupRaft raft = (GroupRaft) leader.group.protocols().get(1);
        assertThatThrownBy(() -> raft.setAsync(late, 0, late.length, null).get(60, TimeUnit.SECONDS))
                .hasCauseInstanceOf(NotLeadingException.class);

        commit(leader, "new");
        awaitAll("new");
    }

    @Test
    void moreThanTheLimitIsRefused() {
        members.forEach(member -> member.maxEntries = 3);
        detectLate();
        start();
        TestMember leader = leader();
        members.stream().filter(member -> member != leader).forEach(TestMember::isolate);
        List<CompletableFuture<Long>> waiting = List.of(leader.propose("1"), leader.propose("2"), leader.propose("3"));

        assertThatThrownBy(() -> leader.propose("4").get())
                .hasCauseInstanceOf(GroupOverloadedException.class)
                .hasMessageContaining("3 entries with 3 bytes wait");
        assertThat(leader.group.figures().refusedEntries()).isOne();
        assertThat(waiting).noneMatch(CompletableFuture::isDone);

        await().atMost(PATIENCE).until(() -> waiting.stream().allMatch(CompletableFuture::isDone));
        assertThat(waiting).allMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(leader.group.figures().waitingEntries()).isZero();
    }

    @Test
    void aMemberWhoseStateFailsEnds() throws Exception {
        detectLate();
        start();
        TestMember leader = leader();
        TestMember failing = other(leader);
        failing.state.failing();
        commit(leader, "1", "2");

        await().atMost(PATIENCE).until(() -> failing.failure != null);
        assertThat(failing.state.entries()).isEmpty();
        assertThat(failing.propose(leader.term, "3")).isCompletedExceptionally();
    }

    @Test
    void whatAllHaveStoredIsRemovedFromTheLog() throws Exception {
        members.forEach(member -> member.log = new LogLimits(50_000, 10_000_000, 10_000, 1_000));
        detectLate();
        start();
        TestMember leader = leader();
        for (int i = 0; i < 20; i++) {
            commit(leader, "x".repeat(10_000));
        }

        await().atMost(PATIENCE).until(() -> leader.group.figures().firstIndex() > 10);
        commit(leader, "more");
        for (TestMember member : members) {
            await().atMost(PATIENCE).until(() -> member.state.entries().size() == 21);
        }
    }

    @Test
    void aMemberThatLacksWhatWasRemovedGetsACheckpoint() throws Exception {
        members.forEach(member -> member.log = new LogLimits(10_000_000, 10_000_000, 20, 1_000));
        detectLate();
        start();
        TestMember leader = leader();
        TestMember away = other(leader);
        away.kill();
        away.wipe();
        List<String> contents = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            contents.add("entry " + i);
        }
        commit(leader, contents.toArray(String[]::new));
        await().atMost(PATIENCE).until(() -> leader.group.figures().firstIndex() > 20);

        away.start();
        await().atMost(PATIENCE)
                .pollInterval(NEXT)
                .until(
                        () -> { // load continues
                            contents.add("later");
                            commit(leader, "later");
                            return away.state.entries().size() >= 60;
                        });
        commit(leader, "last");
        contents.add("last");
        awaitAll(contents.toArray(String[]::new));
        assertThat(away.group.figures().receivedCheckpointBytes()).isPositive();
        await().atMost(PATIENCE).until(() -> away.group.figures().isVoter());
    }

    /** The first entry of its term is committed only with the member that needs the checkpoint. */
    @Test
    void aMemberThatLacksWhatWasRemovedGetsACheckpointOfALeaderWithoutAnotherMember() throws Exception {
        members.forEach(member -> member.log = new LogLimits(10_000_000, 10_000_000, 20, 1_000));
        start();
        TestMember leader = leader();
        TestMember away = other(leader);
        TestMember next = other(leader, away);
        away.kill();
        List<String> contents = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            contents.add("entry " + i);
        }
        commit(leader, contents.toArray(String[]::new));
        await().atMost(PATIENCE).until(() -> next.group.figures().firstIndex() > 20);
        leader.kill();

        away.start();

        await().atMost(PATIENCE).until(next::leads);
        await().atMost(PATIENCE).until(() -> away.state.entries().containsAll(contents));
        assertThat(away.group.figures().receivedCheckpointBytes()).isPositive();
    }

    @Test
    void aMemberWithAnEmptyLogGetsACheckpointInPlaceOfALongLog() throws Exception {
        members.forEach(member -> member.log = new LogLimits(10_000_000, 10_000_000, 10_000, 20));
        start();
        TestMember leader = leader();
        TestMember away = other(leader);
        List<String> contents = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            contents.add("entry " + i);
        }
        commit(leader, contents.toArray(String[]::new));
        away.kill();
        away.wipe();

        away.start();
        await().atMost(PATIENCE).until(() -> away.group.figures().isVoter());
        commit(leader(), "last");
        contents.add("last");
        awaitAll(contents.toArray(String[]::new));
        assertThat(away.group.figures().receivedCheckpointBytes()).isPositive();
        assertThat(away.group.figures().firstIndex()).isGreaterThan(20);
        assertThat(leader().group.figures().firstIndex()).isLessThan(20);
    }

    @Test
    void theHomeGetsTheLeadershipBack() throws Exception {
        members.forEach(member -> member.home = "b");
        start();
        TestMember home = members.get(1);
        await().atMost(PATIENCE).until(home::leads);
        commit(home, "1");
        home.kill();
        TestMember caretaker = leader(home);
        commit(caretaker, "2");

        home.start();
        await().atMost(PATIENCE).until(home::leads);
        commit(home, "3");
        awaitAll("1", "2", "3");
        await().atMost(PATIENCE).until(() -> !caretaker.leads());
    }

    /** Otherwise each of its claims makes another member the leader. */
    @Test
    void aHomeWhoseVotesAreLateGetsTheLeadershipWithItsFirstClaim() throws Exception {
        detectLate();
        members.forEach(member -> member.home = "b");
        start();
        TestMember home = members.get(1);
        await().atMost(PATIENCE).until(home::leads);
        home.kill();
        TestMember caretaker = leader(home);
        commit(caretaker, "1");
        long terms = caretaker.term;

        home.votesAfter = Duration.ofMillis(1_500);
        home.start();
        await().atMost(PATIENCE).until(home::leads);
        commit(home, "2");
        awaitAll("1", "2");
        assertThat(home.term).isEqualTo(terms + 1);
    }

    /**
     * Of the first members of two views that are merged, the one with the lower address is the first one of the merged view. The engine expects
     * that it begins a vote.
     */
    @Test
    void aMemberThatWasCutOffDoesNotEndTheLeadershipWhenItReturns() throws Exception {
        detectLate();
        members.forEach(member -> member.home = "c");
        TestMember cut = members.get(0);
        TestMember leader = members.get(2);
        List.of(leader, members.get(1), cut).forEach(TestMember::start);
        while (address(cut).compareTo(address(leader)) > 0) { // it gets another one with each start
            cut.stop();
            cut.start();
        }
        await().atMost(PATIENCE)
                .until(() -> leader.leads()
                        && members.stream()
                                .allMatch(member -> member.group.present().size() == members.size()));
        commit(leader, "1");
        awaitAll("1");
        long term = leader.term;

        cut.isolate();
        await().atMost(PATIENCE)
                .until(() -> leader.group.present().size() == 2
                        && cut.group.present().size() == 1);
        cut.rejoin();

        await().atMost(PATIENCE)
                .until(() -> members.stream()
                                .allMatch(member -> member.group.present().size() == members.size())
                        && cut.group.leader() != null);
        commit(leader(), "2");
        awaitAll("1", "2");
        assertThat(members)
                .as("a vote raises the term")
                .allSatisfy(member -> assertThat(member.group.figures().term()).isEqualTo(term));
    }

    private static Address address(TestMember member) {
        return member.group.protocols().get(1).getAddress();
    }

    @Test
    void slowDisksDoNotPreventALeader() throws Exception {
        detectLate();
        members.forEach(member -> member.votesAfter = Duration.ofMillis(1_500));
        start();
        commit(leader(), "1");
        awaitAll("1");
    }

    /** The engine by itself sends what is missing only in a pause. */
    @Test
    void aMemberThatWasAwayGetsItsEntriesWhileOthersAreProposed() throws Exception {
        detectLate();
        start();
        TestMember leader = leader();
        TestMember away = other(leader);
        away.isolate();
        leader(away);
        for (int i = 0; i < 30; i++) {
            commit(leader, "missed");
        }
        away.rejoin();
        await().atMost(PATIENCE).pollInterval(NEXT).until(() -> {
            commit(leader(away), "more");
            return away.state.entries().size() > 30;
        });
    }
}
