// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class GroupCommitsTest {

    private static final byte[] BATCH = {1, 2, 3};

    private final List<Long> terms = new ArrayList<>();
    private long applied;
    private Runnable next = () -> {};
    private boolean fails;
    private boolean majority = true;

    private GroupCommits commits(Duration grace) {
        return new GroupCommits(this::propose, () -> applied, () -> majority, grace);
    }

    private CompletableFuture<Long> propose(long term, byte[] content) {
        terms.add(term);
        boolean failing = fails;
        fails = false;
        next.run();
        if (failing) {
            return CompletableFuture.failedFuture(new NotLeadingException("the leadership has ended"));
        }
        applied++;
        return CompletableFuture.completedFuture(applied);
    }

    @Test
    void aBatchThatWasLostWithTheLeadershipIsProposedAgain() throws IOException {
        GroupCommits commits = commits(Duration.ofMinutes(1));
        commits.lead(3);
        fails = true;
        next = () -> {
            commits.follow();
            commits.lead(5);
        };

        commits.commit(BATCH);

        assertThat(commits.isFailing()).isFalse();
        assertThat(terms).containsExactly(3L, 5L);
        assertThat(applied).isEqualTo(1);
    }

    @Test
    void aBatchThatWasAppliedMeanwhileIsNotProposedAgain() throws IOException {
        GroupCommits commits = commits(Duration.ofMinutes(1));
        commits.lead(3);
        fails = true;
        next = () -> {
            commits.follow();
            applied++;
            commits.lead(5);
        };

        commits.commit(BATCH);

        assertThat(terms).containsExactly(3L);
        assertThat(applied).isEqualTo(1);
    }

    @Test
    void withoutAMajorityItFailsAtOnce() {
        GroupCommits commits = commits(Duration.ofDays(1));
        commits.lead(3);
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
        commits.lead(3);
        fails = true;
        next = commits::follow;

        assertThatThrownBy(() -> commits.commit(BATCH)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> commits.commit(BATCH)).isInstanceOf(IOException.class);
        assertThat(terms).containsExactly(3L);
        assertThat(commits.isOpen()).isFalse();
    }
}
