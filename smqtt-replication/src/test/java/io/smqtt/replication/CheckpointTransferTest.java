// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.bytes.MalformedBytesException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jgroups.Address;
import org.jgroups.View;
import org.jgroups.protocols.raft.RAFT;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.Util;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A checkpoint that is sent from one member to another, message by message. */
class CheckpointTransferTest {

    private static final byte[] ROWS = new byte[700_000];
    private static final int PIECES = 3 + 1; // and one for the small file

    static {
        new Random(1).nextBytes(ROWS);
    }

    @TempDir
    private Path directory;

    private final Address leader = member("leader");
    private final Address other = member("other");
    private final Address behind = member("behind");
    private final Deque<GroupMessage> toTarget = new ArrayDeque<>();
    private final Deque<GroupMessage> toSource = new ArrayDeque<>();
    private final List<Long> installed = new ArrayList<>();
    private final FileState state = new FileState();
    private long now = System.nanoTime();
    private RocksRaftLog log;
    private StateFolder sending;
    private StateFolder receiving;
    private CheckpointSource source;
    private CheckpointTarget target;

    private static Address member(String name) {
        return ExtendedUUID.randomUUID(name).put(RAFT.raft_id_key, Util.stringToBytes(name));
    }

    @BeforeEach
    void create() {
        sending = new StateFolder(directory.resolve("a"));
        receiving = new StateFolder(directory.resolve("b"));
        log = LogContent.open(sending.log());
        log.append(1, LogContent.entries(2, "a", "b", "c", "d"));
        source =
                new CheckpointSource("g", sending, state, log, (member, message) -> toTarget.add(transported(message)));
        target = new CheckpointTarget(
                "g",
                receiving,
                state,
                (member, message) -> toSource.add(transported(message)),
                (index, term) -> installed.add(index * 100 + term));
    }

    @AfterEach
    void close() throws IOException {
        log.close();
    }

    private static GroupMessage transported(GroupMessage message) {
        byte[] bytes = GroupMessage.encode(5, message);
        assertThat(GroupMessage.groupOf(bytes)).isEqualTo(5);
        return GroupMessage.decode(bytes);
    }

    private void toTarget(GroupMessage message) {
        if (message instanceof GroupMessage.Offer offer) {
            target.offered(leader, offer, 0, now);
        } else if (message instanceof GroupMessage.Chunk chunk) {
            target.received(leader, chunk, now);
        } else if (message instanceof GroupMessage.End end) {
            target.ended(leader, end, now);
        }
    }

    /** Delivers messages until there are none. Returns the number of pieces. */
    private int deliver(UnaryOperator<GroupMessage> network) {
        int pieces = 0;
        while (!toTarget.isEmpty() || !toSource.isEmpty()) {
            GroupMessage message = toSource.poll();
            if (message instanceof GroupMessage.Fetch fetch) {
                source.fetch(behind, fetch, now);
            } else if (message instanceof GroupMessage.End end) {
                source.ended(behind, end);
            }
            GroupMessage answer = toTarget.poll();
            if (answer != null) {
                pieces += answer instanceof GroupMessage.Chunk ? 1 : 0;
                GroupMessage arrived = network.apply(answer);
                if (arrived != null) {
                    toTarget(arrived);
                }
            }
        }
        return pieces;
    }

    private void assertReceived() throws IOException {
        assertThat(installed).containsExactly(302L);
        assertThat(Files.readAllBytes(receiving.incoming().resolve("db/rows"))).isEqualTo(ROWS);
        assertThat(Files.readString(receiving.incoming().resolve("FORMAT"))).isEqualTo("1");
        assertThat(receiving.incoming().resolve("db/none")).isEmptyFile();
    }

    @Test
    void allPiecesArrive() throws IOException {
        source.needed(behind, now);
        assertThat(source.pinned()).isEqualTo(3);
        assertThat(deliver(UnaryOperator.identity())).isEqualTo(PIECES);

        assertReceived();
        assertThat(target.receivedBytes()).isEqualTo(ROWS.length + 1);
        target.installed();
        deliver(UnaryOperator.identity());
        assertThat(source.pinned()).isEqualTo(Long.MAX_VALUE);
        assertThat(sending.outgoing()).isEmptyDirectory();
        assertThat(receiving.incoming()).doesNotExist();
    }

    @Test
    void aDamagedPieceIsFetchedAgain() throws IOException {
        source.needed(behind, now);
        int[] left = {2};
        deliver(message -> message instanceof GroupMessage.Chunk chunk && left[0]-- > 0 ? damaged(chunk) : message);

        assertReceived();
        assertThat(target.refusedChunks()).isEqualTo(2);
    }

    private static GroupMessage damaged(GroupMessage.Chunk chunk) {
        byte[] bytes = chunk.bytes().clone();
        bytes[bytes.length / 2] ^= 8;
        return new GroupMessage.Chunk(chunk.id(), chunk.position(), chunk.checksum(), bytes);
    }

    @Test
    void onlyDamagedPiecesEndTheHandOver() {
        source.needed(behind, now);
        deliver(message -> message instanceof GroupMessage.Chunk chunk ? damaged(chunk) : message);

        assertThat(installed).isEmpty();
        assertThat(receiving.incoming()).doesNotExist();
        assertThat(sending.outgoing()).isEmptyDirectory();
    }

    @Test
    void aDamagedCheckpointIsNotInstalled() {
        state.isBroken = true;
        source.needed(behind, now);
        deliver(UnaryOperator.identity());

        assertThat(installed).isEmpty();
        assertThat(receiving.incoming()).doesNotExist();
    }

    @Test
    void aLostPieceIsAskedForAgain() throws IOException {
        source.needed(behind, now);
        deliver(message -> message instanceof GroupMessage.Chunk chunk && chunk.position() > 300_000 ? null : message);
        assertThat(installed).isEmpty();
        long received = target.receivedBytes();
        assertThat(received).isPositive();

        now += TimeUnit.SECONDS.toNanos(2);
        target.tick(leader, now);
        deliver(UnaryOperator.identity());
        assertReceived();
        assertThat(target.receivedBytes()).isEqualTo(ROWS.length + 1);
    }

    @Test
    void anotherLeaderBeginsAnew() {
        source.needed(behind, now);
        deliver(message -> message instanceof GroupMessage.Chunk ? null : message);
        now += TimeUnit.SECONDS.toNanos(2);
        target.tick(other, now);

        assertThat(receiving.incoming()).doesNotExist();
        GroupMessage.Offer offer = new GroupMessage.Offer(7, 0, 4, 2, List.of(new CheckpointPart("FORMAT", 1)));
        target.offered(other, offer, 0, now);
        target.received(leader, GroupMessage.Chunk.of(7, 0, new byte[] {'1'}), now);
        assertThat(installed).isEmpty();
        target.received(other, GroupMessage.Chunk.of(7, 0, new byte[] {'1'}), now);
        assertThat(installed).containsExactly(402L);
    }

    @Test
    void aMemberThatHasTheEntriesRefuses() {
        source.needed(behind, now);
        target.offered(leader, (GroupMessage.Offer) toTarget.remove(), 3, now);
        deliver(UnaryOperator.identity());

        assertThat(receiving.incoming()).doesNotExist();
        assertThat(sending.outgoing()).isEmptyDirectory();
    }

    @Test
    void aCheckpointThatNoMemberAsksForIsRemoved() {
        source.needed(behind, now);
        View present = View.create(leader, 1, leader, behind);
        source.tick(present, now + TimeUnit.MINUTES.toNanos(9));
        assertThat(source.pinned()).isEqualTo(3);
        source.tick(present, now + TimeUnit.MINUTES.toNanos(11));
        assertThat(source.pinned()).isEqualTo(Long.MAX_VALUE);
        assertThat(sending.outgoing()).isEmptyDirectory();
    }

    @Test
    void theCheckpointOfAMemberThatIsAwayIsRemoved() {
        source.needed(behind, now);
        source.tick(View.create(leader, 1, leader, other), now);
        assertThat(source.pinned()).isEqualTo(Long.MAX_VALUE);
        assertThat(sending.outgoing()).isEmptyDirectory();
    }

    @Test
    void aCheckpointWithoutTermIsNotOffered() {
        state.index = 99;
        source.needed(behind, now);

        assertThat(toTarget).isEmpty();
        assertThat(sending.outgoing()).isEmptyDirectory();
    }

    /** It has too little room, for example: then it gets entries, if the log has all of them. */
    @Test
    void aMemberThatCheckpointsDoNotHelpGetsEntries() {
        state.isBroken = true;
        for (int i = 0; i < 3; i++) {
            source.needed(behind, now);
            deliver(UnaryOperator.identity());
            assertThat(source.isInVain(behind)).isFalse();
            now += TimeUnit.SECONDS.toNanos(6);
        }
        source.needed(behind, now);
        assertThat(source.isInVain(behind)).isTrue();
        assertThat(source.isInVain(other)).isFalse();

        source.tick(View.create(leader, 1, leader, other), now);
        assertThat(source.isInVain(behind)).isFalse();
    }

    @Test
    void aNameDoesNotLeadOutOfTheDirectory() {
        for (String name : List.of("../x", "/etc/x", "a/../x", "a/b/c", "", ".", "..", "a\\b", "a/.x", "\u0000")) {
            assertThatThrownBy(() -> new CheckpointPart(name, 1)).as(name).isInstanceOf(MalformedBytesException.class);
        }
        assertThatThrownBy(() -> CheckpointPart.sum(
                        List.of(new CheckpointPart("a", Long.MAX_VALUE), new CheckpointPart("b", Long.MAX_VALUE))))
                .isInstanceOf(MalformedBytesException.class);
    }

    @Test
    void bytesThatAreNoMessageAreRefused() {
        byte[] whole = GroupMessage.encode(
                0, new GroupMessage.Offer(1, 9, 2, 3, List.of(new CheckpointPart("db/CURRENT", 16))));
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = java.util.Arrays.copyOf(whole, length);
            if (length != 35) { // an offer without files
                assertThatThrownBy(() -> GroupMessage.decode(cut)).isInstanceOf(MalformedBytesException.class);
            }
        }
        Random random = new Random(2);
        for (int i = 0; i < 2_000; i++) {
            byte[] bytes = new byte[random.nextInt(60)];
            random.nextBytes(bytes);
            if (bytes.length > 2) {
                bytes[0] = 1;
                bytes[2] = (byte) random.nextInt(9);
            }
            try {
                GroupMessage.decode(bytes);
            } catch (MalformedBytesException e) {
                // refused
            }
        }
    }

    /** A state of three files. */
    private static final class FileState implements ReplicatedState {

        private long index = 3;
        private boolean isBroken;

        @Override
        public void open(Path folder) {}

        @Override
        public void close() {}

        @Override
        public boolean isReplaceable() {
            return true;
        }

        @Override
        public long applied() {
            return index;
        }

        @Override
        public void apply(long entry, byte[] bytes, int offset, int length) {}

        @Override
        public long persist() {
            return index;
        }

        @Override
        public long checkpoint(Path folder) throws IOException {
            Files.createDirectories(folder.resolve("db"));
            Files.write(folder.resolve("db/rows"), ROWS);
            Files.createFile(folder.resolve("db/none"));
            Files.writeString(folder.resolve("FORMAT"), "1");
            return index;
        }

        @Override
        public long verify(Path folder) throws IOException {
            if (isBroken) {
                throw new IOException("as the test wants");
            }
            return Files.exists(folder.resolve("db/rows")) ? index : 4;
        }
    }
}
