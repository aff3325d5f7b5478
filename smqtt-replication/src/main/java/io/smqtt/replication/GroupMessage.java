// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.bytes.MalformedBytesException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * A message between two members of a group that is not one of the engine: founding, admission, hand-over of a checkpoint, and the claim of
 * the home.
 *
 * <pre>
 * 0  version 1
 * 1  the number of the group
 * 2  kind
 *    content
 * </pre>
 */
sealed interface GroupMessage {

    /** The maximum number of files in a checkpoint. */
    int MAXIMUM_PARTS = 65_536;

    /** The maximum bytes of a chunk. */
    int CHUNK_BYTES = 256 << 10;

    /** Asks whether the receiver's log is that of a founder. The answer has the same nonce. */
    record FoundingQuestion(long nonce) implements GroupMessage {}

    /**
     * The state of the sender's log at this moment.
     *
     * @param identity the identity of the log
     * @param isEmpty whether it has neither a vote nor an entry
     * @param founders the identities of the logs with which it has founded the group; empty if it has not
     */
    record FoundingAnswer(long nonce, long identity, boolean isEmpty, Set<Long> founders) implements GroupMessage {}

    /**
     * A checkpoint for a member that is behind the log.
     *
     * @param id a random number
     * @param group the number that the group got when it was founded
     * @param index the last entry that is in it
     * @param term the term of that entry
     * @param parts its files
     */
    record Offer(long id, long group, long index, long term, List<CheckpointPart> parts) implements GroupMessage {}

    /** Asks for the bytes of a checkpoint from a position on; its files are behind each other in the order of the offer. */
    record Fetch(long id, long position) implements GroupMessage {}

    /**
     * Bytes of one file of a checkpoint.
     *
     * @param checksum CRC32C of the bytes
     */
    record Chunk(long id, long position, int checksum, byte[] bytes) implements GroupMessage {

        /** Creates a chunk with its checksum. */
        static Chunk of(long id, long position, byte[] bytes) {
            return new Chunk(id, position, checksumOf(bytes), bytes);
        }

        /** Whether the bytes are those that were read. */
        boolean isWhole() {
            return checksum == checksumOf(bytes);
        }

        private static int checksumOf(byte[] bytes) {
            CRC32C sum = new CRC32C();
            sum.update(bytes);
            return (int) sum.getValue();
        }
    }

    /** The end of a hand-over: the receiver has the checkpoint, or does not need it, or the sender has removed it. */
    record End(long id) implements GroupMessage {}

    /**
     * The home of the group asks for the leadership.
     *
     * @param term the term of the leader that is asked
     */
    record Claim(long term) implements GroupMessage {}

    /** The leader says with which logs the members are admitted. */
    record Logs(KnownLogs known) implements GroupMessage {}

    /** The logs that the sender has on stable storage, as the answer to {@link Logs}. */
    record LogsKnown(KnownLogs known) implements GroupMessage {}

    /** Encodes a message. */
    static byte[] encode(int group, GroupMessage message) {
        ByteWriter out = new ByteWriter(64).u8(1).u8(group);
        if (message instanceof FoundingQuestion question) {
            out.u8(1).i64(question.nonce());
        } else if (message instanceof FoundingAnswer answer) {
            out.u8(2).i64(answer.nonce()).i64(answer.identity()).u8(answer.isEmpty() ? 1 : 0);
            answer.founders().forEach(out::i64);
        } else if (message instanceof Offer offer) {
            out.u8(3).i64(offer.id()).i64(offer.group()).i64(offer.index()).i64(offer.term());
            offer.parts().forEach(part -> out.text(part.name()).i64(part.bytes()));
        } else if (message instanceof Fetch fetch) {
            out.u8(4).i64(fetch.id()).i64(fetch.position());
        } else if (message instanceof Chunk chunk) {
            out.u8(5)
                    .i64(chunk.id())
                    .i64(chunk.position())
                    .i32(chunk.checksum())
                    .raw(chunk.bytes(), chunk.bytes().length);
        } else if (message instanceof End end) {
            out.u8(6).i64(end.id());
        } else if (message instanceof Claim claim) {
            out.u8(7).i64(claim.term());
        } else if (message instanceof Logs logs) {
            logs.known().encode(out.u8(8));
        } else if (message instanceof LogsKnown answer) {
            answer.known().encode(out.u8(9));
        }
        return out.toByteArray();
    }

    /**
     * The number of the group that a message is for.
     *
     * @throws MalformedBytesException if it is none
     */
    static int groupOf(byte[] bytes) {
        ByteReader in = new ByteReader(bytes);
        in.format(1);
        return in.u8();
    }

    /**
     * Decodes a message.
     *
     * @throws MalformedBytesException if it is none of the above
     */
    static GroupMessage decode(byte[] bytes) {
        ByteReader in = new ByteReader(bytes);
        in.format(1);
        in.u8();
        int kind = in.u8();
        GroupMessage message = switch (kind) {
            case 1 -> new FoundingQuestion(in.i64());
            case 2 -> new FoundingAnswer(in.i64(), in.i64(), in.u8() == 1, identities(in));
            case 3 -> new Offer(in.i64(), in.i64(), in.i64(), in.i64(), parts(in));
            case 4 -> new Fetch(in.i64(), in.i64());
            case 5 -> chunk(in, bytes);
            case 6 -> new End(in.i64());
            case 7 -> new Claim(in.i64());
            case 8 -> new Logs(KnownLogs.decode(in));
            case 9 -> new LogsKnown(KnownLogs.decode(in));
            default -> throw new MalformedBytesException("a message of kind " + kind);
        };
        if (!(message instanceof Chunk)) {
            in.requireEnd();
        }
        return message;
    }

    private static Set<Long> identities(ByteReader in) {
        Set<Long> identities = new LinkedHashSet<>();
        while (in.remaining() > 0) {
            identities.add(in.i64());
        }
        return identities;
    }

    private static List<CheckpointPart> parts(ByteReader in) {
        List<CheckpointPart> parts = new ArrayList<>();
        while (in.remaining() > 0) {
            if (parts.size() == MAXIMUM_PARTS) {
                throw new MalformedBytesException("a checkpoint of more than " + MAXIMUM_PARTS + " files");
            }
            parts.add(new CheckpointPart(in.text(), in.i64()));
        }
        return parts;
    }

    private static Chunk chunk(ByteReader in, byte[] bytes) {
        long id = in.i64();
        long position = in.i64();
        int checksum = in.i32();
        int length = in.remaining();
        if (length > CHUNK_BYTES) {
            throw new MalformedBytesException("a chunk of " + length + " bytes");
        }
        byte[] content = new byte[length];
        System.arraycopy(bytes, bytes.length - length, content, 0, length);
        return new Chunk(id, position, checksum, content);
    }
}
