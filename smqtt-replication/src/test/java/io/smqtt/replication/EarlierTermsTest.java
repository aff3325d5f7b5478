// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jgroups.Address;
import org.jgroups.EmptyMessage;
import org.jgroups.Message;
import org.jgroups.View;
import org.jgroups.protocols.raft.AppendEntriesResponse;
import org.jgroups.protocols.raft.AppendResult;
import org.jgroups.protocols.raft.InMemoryLog;
import org.jgroups.protocols.raft.LogEntries;
import org.jgroups.protocols.raft.LogEntry;
import org.jgroups.protocols.raft.RAFT;
import org.jgroups.raft.StateMachine;
import org.jgroups.stack.Protocol;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.Util;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A leader has an entry of an earlier term, and a majority has it, too. That is not enough to commit it: a member with an entry of a later
 * term could still be elected, and replace it.
 */
class EarlierTermsTest {

    private static final Set<String> NAMES = Set.of("a", "b", "c");

    @TempDir
    private Path folder;

    private final Address a = member("a");
    private final Address b = member("b");
    private final List<String> applied = new ArrayList<>();

    @Test
    void anEntryOfAnEarlierTermIsCommittedWithOneOfTheLeadersOwn() throws Exception {
        RecordedState state = new RecordedState();
        RocksRaftLog log = LogContent.open(folder.resolve("log"));
        log.append(1, new LogEntries().add(new LogEntry(1, GroupCommand.data(1, "old".getBytes()))));
        GroupSettings settings = new GroupSettings("g", 0, "a", NAMES, null, folder, 10, 1_000, LogLimits.defaults());
        GroupRaft raft = GroupRaft.create(
                (short) 801, settings, new GroupMembers(NAMES), log, state, new Ignored(), failure -> {});
        lead(raft, 3);
        try {
            answer(raft, 3, 1);
            assertThat(log.commitIndex()).isZero();
            assertThat(state.entries()).isEmpty();

            raft.begin();
            answer(raft, 3, 2);
            assertThat(log.commitIndex()).isEqualTo(2);
            assertThat(state.entries()).containsExactly("old");
        } finally {
            raft.stop();
            log.close();
        }
    }

    /** Why {@link GroupRaft} has to care. If this fails, it need not any more. */
    @Test
    void theEngineCommitsItAtOnce() throws Exception {
        InMemoryLog log = new InMemoryLog();
        log.init(UUID.randomUUID().toString(), null);
        log.append(1, new LogEntries().add(new LogEntry(1, "old".getBytes())));
        RAFT raft = new RAFT().members(NAMES).raftId("a").log(log).stateMachine(new Recorder());
        lead(raft, 3);
        try {
            answer(raft, 3, 1);
            assertThat(applied).containsExactly("old");
        } finally {
            raft.stop();
        }
    }

    private static Address member(String name) {
        return ExtendedUUID.randomUUID(name).put(RAFT.raft_id_key, Util.stringToBytes(name));
    }

    private void lead(RAFT raft, long term) throws Exception {
        raft.setAddress(a);
        raft.setDownProtocol(new Nowhere());
        raft.init();
        raft.synchronous(true);
        raft.start();
        raft.handleView(View.create(a, 1, a, b, member("c")));
        raft.setLeaderAndTerm(a, term);
        assertThat(raft.isLeader()).isTrue();
    }

    /** Another member has all entries up to an index. */
    private void answer(RAFT raft, long term, long index) {
        AppendResult result = new AppendResult(AppendResult.Result.OK, index);
        raft.up(new EmptyMessage(a).setSrc(b).putHeader(raft.getId(), new AppendEntriesResponse(term, result)));
    }

    private static final class Nowhere extends Protocol {

        @Override
        public Object down(Message message) {
            return null;
        }
    }

    static final class Ignored implements GroupRaft.AppliedEntries {

        @Override
        public void began(long index, long term) {}

        @Override
        public void admitted(long number, Set<Long> identities) {}

        @Override
        public void released(long index) {}

        @Override
        public void isBehind(Address member) {}

        @Override
        public boolean needsEntries(Address member) {
            return false;
        }
    }

    private final class Recorder implements StateMachine {

        @Override
        public byte[] apply(byte[] source, int offset, int length, boolean serialize) {
            applied.add(new String(source, offset, length));
            return new byte[0];
        }

        @Override
        public void readContentFrom(DataInput in) throws IOException {}

        @Override
        public void writeContentTo(DataOutput out) throws IOException {}
    }
}
