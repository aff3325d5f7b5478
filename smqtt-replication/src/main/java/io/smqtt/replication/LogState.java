// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.MalformedBytesException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * All of a log but its entries. The whole row is written with each change, in the batch of that change: whichever batches a damaged file
 * has lost, the row that is found belongs to the last one of those that are left.
 *
 * @param revision the number of changes so far
 * @param term the current term; never decreases
 * @param vote the encoded address of the member that has this node's vote in the term, empty if none has it
 * @param first the index of the first entry that is kept, 0 before the log was truncated
 * @param last the index of the last entry, 0 if there was none
 * @param commit the index of the last entry that is known to be committed
 * @param identity a random number that the log got when it was created: a log that replaces a lost one has another
 * @param group the random number of the group, which it got when it was founded: groups of other clusters have others. 0 before this log was
 *     founded or admitted
 * @param voter whether the node may vote. The one that has a new log in place of a lost one may have forgotten votes and entries
 */
record LogState(
        long revision,
        long term,
        byte[] vote,
        long first,
        long last,
        long commit,
        long identity,
        long group,
        boolean voter) {

    /** The state of a log that does not exist. */
    static final LogState NONE = new LogState(0, 0, new byte[0], 0, 0, 0, 0, 0, false);

    private static final short MAGIC = 0x5253;
    private static final byte VERSION = 1;
    private static final int FIXED_BYTES = Short.BYTES + 2 + 7 * Long.BYTES + Short.BYTES + Integer.BYTES;

    /** The state of a new log. */
    static LogState created(long identity, boolean voter) {
        return new LogState(1, 0, new byte[0], 0, 0, 0, identity, 0, voter);
    }

    /** The same with a vote in a group from now on. */
    LogState asVoterOf(long other) {
        return new LogState(revision + 1, term, vote, first, last, commit, identity, other, true);
    }

    /** The same with a later term, in which there is no vote yet. */
    LogState withTerm(long other) {
        return new LogState(revision + 1, other, new byte[0], first, last, commit, identity, group, voter);
    }

    /** The same with another vote. */
    LogState withVote(byte[] other) {
        return new LogState(revision + 1, term, other, first, last, commit, identity, group, voter);
    }

    /** The same with other bounds. */
    LogState withEntries(long firstIndex, long lastIndex, long atLeastTerm) {
        boolean isLater = atLeastTerm > term;
        return new LogState(
                revision + 1,
                isLater ? atLeastTerm : term,
                isLater ? new byte[0] : vote,
                firstIndex,
                lastIndex,
                commit,
                identity,
                group,
                voter);
    }

    /** The same after a change of something else. */
    LogState unchanged() {
        return new LogState(revision + 1, term, vote, first, last, commit, identity, group, voter);
    }

    /** The same with another commit index. */
    LogState withCommit(long other) {
        return new LogState(revision + 1, term, vote, first, last, other, identity, group, voter);
    }

    /** The same change with another commit index, too. */
    LogState withCommitOf(long index) {
        return new LogState(revision, term, vote, first, last, index, identity, group, voter);
    }

    /** The index of the first entry that can be read. */
    long firstReadable() {
        return Math.max(first, 1);
    }

    byte[] encode() {
        ByteBuffer row = ByteBuffer.allocate(FIXED_BYTES + vote.length);
        row.putShort(MAGIC)
                .put(VERSION)
                .put((byte) (voter ? 1 : 0))
                .putLong(revision)
                .putLong(term)
                .putLong(first)
                .putLong(last)
                .putLong(commit)
                .putLong(identity)
                .putLong(group)
                .putShort((short) vote.length)
                .put(vote);
        return row.putInt(checksum(row.array())).array();
    }

    /**
     * Decodes a row.
     *
     * @throws MalformedBytesException if it is not as it was written
     */
    static LogState decode(byte[] row) {
        ByteBuffer in = ByteBuffer.wrap(row);
        if (row.length < FIXED_BYTES || in.getInt(row.length - Integer.BYTES) != checksum(row)) {
            throw new MalformedBytesException("the checksum of its state differs");
        }
        short magic = in.getShort();
        byte version = in.get();
        if (magic != MAGIC || version != VERSION) {
            throw new MalformedBytesException("its state has format " + magic + "." + version
                    + ", this program supports " + MAGIC + "." + VERSION);
        }
        boolean voter = in.get() == 1;
        long revision = in.getLong();
        long term = in.getLong();
        long first = in.getLong();
        long last = in.getLong();
        long commit = in.getLong();
        long identity = in.getLong();
        long group = in.getLong();
        byte[] vote = new byte[in.getShort()];
        in.get(vote);
        return new LogState(revision, term, vote, first, last, commit, identity, group, voter);
    }

    private static int checksum(byte[] row) {
        CRC32C checksum = new CRC32C();
        checksum.update(row, 0, row.length - Integer.BYTES);
        return (int) checksum.getValue();
    }
}
