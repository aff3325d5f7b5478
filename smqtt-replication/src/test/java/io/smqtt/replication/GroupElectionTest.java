// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.jgroups.Address;
import org.jgroups.EmptyMessage;
import org.jgroups.Message;
import org.jgroups.protocols.raft.RAFT;
import org.jgroups.protocols.raft.election.VoteRequest;
import org.jgroups.protocols.raft.election.VoteResponse;
import org.jgroups.stack.Protocol;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.Util;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A member has one vote in a term, whatever else happens while it handles the request. */
class GroupElectionTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Set<String> NAMES = Set.of("a", "b", "c");
    private static final short RAFT_ID = 801;
    private static final short ELECTION_ID = 802;

    @TempDir
    private Path folder;

    private final Address b = member("b");
    private final Address c = member("c");
    private final List<String> votes = new CopyOnWriteArrayList<>();
    private final AtomicReference<Runnable> beforeLook = new AtomicReference<>();
    private final AtomicReference<Runnable> afterLook = new AtomicReference<>();
    private RocksRaftLog log;
    private RAFT raft;
    private GroupElection election;

    private static Address member(String name) {
        return ExtendedUUID.randomUUID(name).put(RAFT.raft_id_key, Util.stringToBytes(name));
    }

    @BeforeEach
    void create() throws Exception {
        Address a = member("a");
        log = LogContent.open(folder.resolve("log"));
        raft = new RAFT() {

            /** The engine looks whether there is a vote, and stores one after that. */
            @Override
            public Address votedFor() {
                run(beforeLook);
                Address found = super.votedFor();
                run(afterLook);
                return found;
            }
        };
        raft.setId(RAFT_ID);
        raft.members(NAMES).raftId("a").log(log).setAddress(a);
        raft.setDownProtocol(new Votes());
        raft.init();
        election = GroupElection.create(ELECTION_ID, new GroupMembers(NAMES), log, null, () -> false);
        election.raft(raft).setAddress(a);
        election.setDownProtocol(new Votes());
    }

    @AfterEach
    void close() throws Exception {
        log.close();
    }

    private static void run(AtomicReference<Runnable> once) {
        Runnable action = once.getAndSet(null);
        if (action != null) {
            action.run();
        }
    }

    private void ask(Address member, long term) {
        election.up(new EmptyMessage().setSrc(member).putHeader(ELECTION_ID, new VoteRequest(term)));
    }

    @Test
    void aTermThatBeginsMeanwhileDoesNotMakeASecondVote() {
        ask(b, 5);
        assertThat(votes).containsExactly("b in 5");

        beforeLook.set(() -> raft.currentTerm(6)); // the engine has found that the request is not of an old term
        ask(c, 5);

        assertThat(raft.currentTerm()).isEqualTo(6);
        assertThat(votes).containsExactly("b in 5");
    }

    @Test
    void oneOfTwoRequestsThatComeTogetherGetsTheVote() throws Exception {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread second = new Thread(() -> ask(c, 5));
        second.setUncaughtExceptionHandler((thread, thrown) -> failure.set(thrown));
        afterLook.set(() -> {
            second.start();
            await().atMost(PATIENCE).until(() -> second.getState() == Thread.State.BLOCKED || !second.isAlive());
        });

        ask(b, 5);
        second.join(PATIENCE.toMillis());

        assertThat(second.isAlive()).isFalse();
        assertThat(failure).hasNullValue();
        assertThat(votes).containsExactly("b in 5");
        assertThat(log.votedFor()).isEqualTo(b);
    }

    /** Records the votes that leave. */
    private final class Votes extends Protocol {

        @Override
        public Object down(Message message) {
            if (message.getHeader(ELECTION_ID) instanceof VoteResponse vote) {
                votes.add((message.getDest().equals(b) ? "b" : "c") + " in " + vote.currTerm());
            }
            return null;
        }
    }
}
