// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class GroupCommitsTest {

    private static final byte[] BATCH = {1, 2, 3};
    private static final long REIGN = 40;

    private final List<Long> terms = new ArrayList<>();
    private final List<Long> numbers = new CopyOnWriteArrayList<>();
    private long reign = REIGN;
    private long applied;
    private Runnable next = () -> {};
    private boolean fails;
    private volatile boolean hangs;
    private boolean majority = true;

    private GroupCommits commits(Duration grace) {
        return new GroupCommits(
                this::propose, (ofReign, number) -> ofReign == reign && number <= applied, () -> majority, grace);
    }

    private CompletableFuture<Long> propose(long term, byte[] content) {
        StoreEntry.Batch batch = (StoreEntry.Batch) StoreEntry.decode(content, 0, content.length);
        terms.add(term);
        numbers.add(batch.number());
        if (hangs) {
            return new CompletableFuture<>();
        }
        boolean failing = fails;
        fails = false;
        next.run();
        if (failing) {
            return CompletableFuture.failedFuture(new NotLeadingException("the leadership has ended"));
        }
        apply(batch);
        return CompletableFuture.completedFuture(100L + terms.size());
    }

    private void apply(StoreEntry.Batch batch) {
        if (batch.reign() == reign && batch.number() > applied) {
            applied = batch.number();
        }
    }

    @Test
    void aBatchGrowsBySixteenBytes() {
        int withoutReign = 1 + BATCH.length;
        assertThat(StoreEntry.batch(Long.MAX_VALUE, Long.MAX_VALUE, BATCH)).hasSize(withoutReign + 16);
    }

    @Test
    void batchesHaveNumbersOfTheirReign() throws IOException {
        GroupCommits commits = commits(Duration.ofMinutes(1));
        commits.lead(3, REIGN);

        commits.commit(BATCH);
        commits.commit(BATCH);

        assertThat(numbers).containsExactly(1L, 2L);
        assertThat(applied).isEqualTo(2);
    }

    @Test
    void aBatchThatWasLostWithTheLeadershipIsProposedAgainWithItsNumber() throws IOException {
        GroupCommits commits = commits(Duration.ofMinutes(1));
        commits.lead(3, REIGN);
        fails = true;
        next = () -> {
            commits.follow();
            commits.lead(5, REIGN);
        };

        commits.commit(BATCH);

        assertThat(commits.isFailing()).isFalse();
        assertThat(terms).containsExactly(3L, 5L);
        assertThat(numbers).containsExactly(1L, 1L);
        assertThat(applied).isEqualTo(1);
    }

    @Test
    void aBatchThatWasAppliedMeanwhileIsNotProposedAgain() throws IOException {
        GroupCommits commits = commits(Duration.ofMinutes(1));
        commits.lead(3, REIGN);
        fails = true;
        next = () -> {
            commits.follow();
            applied = 1;
            commits.lead(5, REIGN);
        };

        commits.commit(BATCH);

        assertThat(terms).containsExactly(3L);
        assertThat(applied).isEqualTo(1);
    }

    @Test
    void aBatchThatWasAppliedIsCommittedWhoeverLeads() throws IOException {
        GroupCommits commits = commits(Duration.ZERO);
        commits.lead(3, REIGN);
        fails = true;
        next = () -> {
            commits.follow();
            applied = 1;
            majority = false;
        };

        commits.commit(BATCH);

        assertThat(terms).containsExactly(3L);
        assertThat(commits.isOpen()).isFalse();
    }

    @Test
    void aBatchOfAnotherReignDoesNotCountAsTheOwn() {
        GroupCommits commits = commits(Duration.ofMinutes(1));
        commits.lead(3, REIGN);
        fails = true;
        next = () -> {
            commits.follow();
            reign = 70;
            applied = 5;
            commits.end("node b serves this store");
        };

        assertThatThrownBy(() -> commits.commit(BATCH))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("node b serves this store");
        assertThat(terms).containsExactly(3L);
    }

    @Test
    void aBatchThatIsInTheLogBehindTheReignOfAnotherHasFailed() {
        GroupCommits commits = commits(Duration.ofMinutes(1));
        commits.lead(3, REIGN);
        next = () -> reign = 70;

        assertThatThrownBy(() -> commits.commit(BATCH))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("behind the end");
        assertThat(commits.isFailing()).isTrue();
    }

    @Test
    void afterTheEndAllFailsAtOnceAndForGood() {
        GroupCommits commits = commits(Duration.ofDays(1));
        commits.lead(3, REIGN);
        commits.end("node b serves this store");
        commits.lead(5, REIGN);

        assertThat(commits.isOpen()).isFalse();
        assertThat(commits.hasEnded()).isTrue();
        assertThatThrownBy(() -> commits.commit(BATCH)).isInstanceOf(IOException.class);
        assertThat(terms).isEmpty();
    }

    @Test
    void theEndFailsABatchWhoseMajorityDoesNotAnswer() {
        GroupCommits commits = commits(Duration.ofDays(1));
        commits.lead(3, REIGN);
        hangs = true;
        TimedClose committing = TimedClose.begin("test-commit", () -> commits.commit(BATCH));
        await().until(() -> !numbers.isEmpty());

        commits.end("the store is closed");

        assertThatThrownBy(() -> committing.await(Duration.ofMinutes(1)))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("the store is closed");
    }

    @Test
    void withoutAMajorityItFailsAtOnce() {
        GroupCommits commits = commits(Duration.ofDays(1));
        commits.lead(3, REIGN);
        fails = true;
        next = () -> {
            commits.follow();
            majority = false;
        };

        assertThatThrownBy(() -> commits.commit(BATCH))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no majority");
        assertThat(terms).containsExactly(3L);
        assertThat(commits.isFailing()).isTrue();
    }

    @Test
    void withoutANextLeadershipItFails() {
        GroupCommits commits = commits(Duration.ofMillis(20));
        commits.lead(3, REIGN);
        fails = true;
        next = commits::follow;

        assertThatThrownBy(() -> commits.commit(BATCH)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> commits.commit(BATCH)).isInstanceOf(IOException.class);
        assertThat(terms).containsExactly(3L);
        assertThat(commits.isOpen()).isFalse();
    }
}
