// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.bytes.MalformedBytesException;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The content of an entry of a group.
 *
 * <pre>
 * 0  version 1
 * 1  kind: 1 = data, 2 = admission, 3 = release
 * 2  the term in which it was proposed, 8 bytes
 *    data: the bytes of the proposer; admission: the number of the group and
 *    identities of logs, 8 bytes each; release: an index, 8 bytes
 * </pre>
 */
sealed interface GroupCommand {

    /** Bytes in front of the data. */
    int HEADER_BYTES = 2 + Long.BYTES;

    /**
     * Data for the state. It counts only in an entry of the term in which it was proposed: between the proposal and the append the node may
     * have lost the leadership and got it again, and its proposer has lost its claim by then.
     */
    record Data(long term, byte[] command, int offset, int length) implements GroupCommand {}

    /**
     * Nodes whose logs may vote from now on.
     *
     * @param group the number that the group got when it was founded
     */
    record Admission(long group, Set<Long> identities) implements GroupCommand {}

    /** Entries up to an index, which all members have: no log needs them for another member. */
    record Release(long index) implements GroupCommand {}

    /** Encodes data. */
    static byte[] data(long term, byte[] content) {
        return new ByteWriter(HEADER_BYTES + content.length)
                .u8(1)
                .u8(1)
                .i64(term)
                .raw(content, content.length)
                .toByteArray();
    }

    /** Encodes an admission. */
    static byte[] admission(long term, long group, Set<Long> identities) {
        ByteWriter out = new ByteWriter(HEADER_BYTES + (1 + identities.size()) * Long.BYTES)
                .u8(1)
                .u8(2)
                .i64(term)
                .i64(group);
        identities.forEach(out::i64);
        return out.toByteArray();
    }

    /** Encodes a release. */
    static byte[] release(long term, long index) {
        return new ByteWriter(HEADER_BYTES + Long.BYTES)
                .u8(1)
                .u8(3)
                .i64(term)
                .i64(index)
                .toByteArray();
    }

    /**
     * Decodes an entry's content.
     *
     * @throws MalformedBytesException if it is none of the above
     */
    static GroupCommand decode(byte[] command, int offset, int length) {
        ByteReader in = new ByteReader(command, offset, offset + length);
        in.format(1);
        int kind = in.u8();
        long term = in.i64();
        return switch (kind) {
            case 1 -> new Data(term, command, offset + HEADER_BYTES, length - HEADER_BYTES);
            case 2 -> {
                long group = in.i64();
                Set<Long> identities = new LinkedHashSet<>();
                while (in.remaining() > 0) {
                    identities.add(in.i64());
                }
                yield new Admission(group, identities);
            }
            case 3 -> new Release(in.i64());
            default -> throw new MalformedBytesException("an entry of kind " + kind);
        };
    }
}
