// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jgroups.Address;
import org.jgroups.Message;
import org.jgroups.ObjectMessage;
import org.jgroups.View;
import org.jgroups.protocols.raft.AppendEntriesRequest;
import org.jgroups.protocols.raft.AppendEntriesResponse;
import org.jgroups.protocols.raft.LogEntries;
import org.jgroups.protocols.raft.LogEntry;
import org.jgroups.protocols.raft.RAFT;
import org.jgroups.stack.Protocol;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.Util;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A member that follows: it answers that it has stored entries before it applies those that were committed before them. */
class GroupRaftTest {

    private static final short ID = 801;
    private static final long TERM = 3;
    private static final Set<String> NAMES = Set.of("a", "b", "c");

    @TempDir
    private Path folder;

    private final Address leader = member("a");
    private final Address self = member("b");
    private final RecordedState state = new RecordedState();
    private final List<List<String>> appliedAtAnswers = new ArrayList<>();
    private final List<Long> storedAtAnswers = new ArrayList<>();
    private RocksRaftLog stored;
    private GroupRaft raft;

    @BeforeEach
    void follow() throws Exception {
        stored = LogContent.open(folder.resolve("log"));
        GroupSettings settings = new GroupSettings("g", 0, "b", NAMES, null, folder, 10, 1_000, LogLimits.defaults());
        raft = GroupRaft.create(
                ID, settings, new GroupMembers(NAMES), stored, state, new EarlierTermsTest.Ignored(), failure -> {});
        raft.setAddress(self);
        raft.setDownProtocol(new Answers());
        raft.init();
        raft.synchronous(true);
        raft.start();
        raft.handleView(View.create(leader, 1, leader, self, member("c")));
    }

    @AfterEach
    void end() throws Exception {
        raft.stop();
        stored.close();
    }

    @Test
    void entriesThatAreCommittedAreAppliedBehindTheAnswerToTheNextOne() {
        receive(0, "one", 0);
        receive(1, "two", 1);

        assertThat(storedAtAnswers).containsExactly(1L, 2L);
        assertThat(appliedAtAnswers).containsExactly(List.of(), List.of());
        assertThat(state.entries()).containsExactly("one");
        assertThat(stored.commitIndex()).isEqualTo(1);
    }

    @Test
    void theLeaderIsToldOfACommitThatCameAlone() {
        receive(0, "one", 0);
        receive(0, null, 1);

        assertThat(appliedAtAnswers).containsExactly(List.of(), List.of("one"));
    }

    @Test
    void anEntryThatComesTwiceIsAppliedOnce() {
        receive(0, "one", 0);
        receive(1, "two", 1);
        receive(1, "two", 2);

        assertThat(state.entries()).containsExactly("one", "two");
        assertThat(stored.lastAppended()).isEqualTo(2);
    }

    /** The engine has one for each message. */
    @Test
    void aLineOfTheLogIsFormattedOnlyIfItsLevelIsOn() {
        raft.getLog()
                .trace(
                        "%s",
                        new Object() {
                            @Override
                            public String toString() {
                                throw new IllegalStateException("formatted");
                            }
                        });
    }

    private void receive(long before, @Nullable String entry, long committed) {
        LogEntries entries = entry == null
                ? null
                : new LogEntries().add(new LogEntry(TERM, GroupCommand.data(TERM, entry.getBytes())));
        raft.up(new ObjectMessage(self, entries)
                .setSrc(leader)
                .putHeader(
                        ID, new AppendEntriesRequest(leader, TERM, before, before == 0 ? 0 : TERM, TERM, committed)));
    }

    private static Address member(String name) {
        return ExtendedUUID.randomUUID(name).put(RAFT.raft_id_key, Util.stringToBytes(name));
    }

    private final class Answers extends Protocol {

        @Override
        public @Nullable Object down(Message message) {
            if (message.getHeader(ID) instanceof AppendEntriesResponse) {
                storedAtAnswers.add(stored.lastAppended());
                appliedAtAnswers.add(List.copyOf(state.entries()));
            }
            return null;
        }
    }
}
