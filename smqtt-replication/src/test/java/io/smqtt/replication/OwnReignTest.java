// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class OwnReignTest {

    private static final Reign OWN = new Reign("a", 11);
    private static final Reign OTHER = new Reign("b", 12);

    private final List<CompletableFuture<Long>> proposed = new ArrayList<>();
    private final List<Long> terms = new ArrayList<>();
    private final List<String> happened = new ArrayList<>();
    private final GroupCommits commits =
            new GroupCommits(this::propose, (reign, number) -> true, () -> true, Duration.ZERO);
    private long current;
    private final OwnReign reign =
            new OwnReign("g", OWN, commits, this::propose, () -> current, new OwnReign.Listener() {
                @Override
                public void opened() {
                    happened.add("opened");
                }

                @Override
                public void ended() {
                    happened.add("ended");
                }
            });

    private CompletableFuture<Long> propose(long term, byte[] content) {
        assertThat(StoreEntry.decode(content, 0, content.length)).isEqualTo(new StoreEntry.Begin(OWN));
        CompletableFuture<Long> result = new CompletableFuture<>();
        proposed.add(result);
        terms.add(term);
        return result;
    }

    private void apply(long index, Reign begun) {
        current = index;
        reign.applied(index, begun);
    }

    private void begin() {
        reign.want();
        reign.leads(3);
        apply(20, OWN);
        proposed.get(0).complete(20L);
    }

    private void fail(int proposal) {
        proposed.get(proposal).completeExceptionally(new NotLeadingException("the leadership has ended"));
    }

    @Test
    void itServesWhenItsEntryIsApplied() {
        reign.want();
        assertThat(terms).isEmpty();
        reign.leads(3);
        assertThat(terms).containsExactly(3L);
        assertThat(commits.isOpen()).isFalse();

        apply(20, OWN);
        proposed.get(0).complete(20L);

        assertThat(commits.isOpen()).isTrue();
        assertThat(happened).containsExactly("opened");
    }

    @Test
    void anotherNodeThatServesTheStoreEndsIt() { // only the channel of the replicas is cut
        reign.servedBy("b", 30);
        begin();
        reign.servedBy("b", 19);
        assertThat(reign.ended()).isNull();

        reign.servedBy("b", 21);

        assertThat(reign.ended()).contains("node b serves this store since entry 21");
        assertThat(happened).containsExactly("opened", "ended");
    }

    @Test
    void rowsOfAnotherReignEndIt() {
        reign.found(7);
        begin();
        reign.found(20);
        assertThat(reign.ended()).isNull();

        reign.found(25);
        assertThat(reign.ended()).contains("another node has served this store since entry 25");
        assertThat(commits.hasEnded()).isTrue();
    }

    @Test
    void aLeaderThatIsNotWantedToServeDoesNotReign() {
        reign.leads(3);
        assertThat(terms).isEmpty();

        reign.want();
        assertThat(terms).containsExactly(3L);
        reign.want();
        assertThat(terms).containsExactly(3L);
    }

    @Test
    void oneThatIsNotWantedAnyMoreDoesNotReignInALaterLeadership() {
        reign.want();
        reign.wantNot();
        reign.leads(3);

        assertThat(terms).isEmpty();
    }

    @Test
    void aLeadershipThatComesBackContinuesTheReign() {
        begin();
        reign.follows();
        assertThat(commits.isOpen()).isFalse();

        reign.leads(5);

        assertThat(commits.isOpen()).isTrue();
        assertThat(terms).containsExactly(3L);
        assertThat(reign.ended()).isNull();
    }

    @Test
    void anEntryOfUnknownOutcomeThatWasAppliedIsTheReign() {
        reign.want();
        reign.leads(3);
        reign.follows();
        fail(0);
        apply(20, OWN);

        reign.leads(5);

        assertThat(terms).containsExactly(3L);
        assertThat(commits.isOpen()).isTrue();
    }

    @Test
    void anEntryThatWasLostIsProposedInTheNextLeadership() {
        reign.want();
        reign.leads(3);
        reign.follows();
        fail(0);

        reign.leads(5);

        assertThat(terms).containsExactly(3L, 5L);
    }

    @Test
    void anEntryThatWasRefusedIsProposedAgainInTheSameTerm() {
        reign.want();
        reign.leads(3);
        fail(0);
        reign.want();

        assertThat(terms).containsExactly(3L, 3L);
    }

    @Test
    void anEntryThatIsAppliedAfterTheLeadershipDoesNotOpen() {
        reign.want();
        reign.leads(3);
        reign.follows();
        apply(20, OWN);
        proposed.get(0).complete(20L);

        assertThat(commits.isOpen()).isFalse();
    }

    @Test
    void theReignOfAnotherEndsItForGood() {
        begin();
        reign.follows();
        apply(30, OTHER);
        apply(40, OTHER);

        assertThat(happened).containsExactly("opened", "ended");
        assertThat(reign.ended()).isEqualTo("node b serves this store since entry 30; start this node again");
        reign.leads(7);
        reign.want();
        assertThat(commits.isOpen()).isFalse();
        assertThat(terms).containsExactly(3L);
    }

    @Test
    void theReignOfAnEarlierRunOfThisNodeEndsNothing() {
        apply(10, new Reign("a", 9));
        apply(15, OTHER);
        begin();

        assertThat(commits.isOpen()).isTrue();
        assertThat(happened).containsExactly("opened");
    }

    /** A checkpoint has it in place of its entry. */
    @Test
    void aReignOfAnotherThatWasNotSeenEndsItWithTheNextLeadership() {
        begin();
        reign.follows();
        current = 30;
        reign.leads(7);

        assertThat(happened).containsExactly("opened", "ended");
        assertThat(reign.ended()).contains("another node has served this store since entry 30");
        assertThat(commits.isOpen()).isFalse();
    }
}
