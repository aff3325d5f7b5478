// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.MalformedBytesException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jgroups.protocols.raft.LogEntry;

/**
 * One entry of the log as it is stored. The record has its index, so that a record under another entry's key is not taken for that entry.
 * Numbers are big endian.
 *
 * <pre>
 *  0  magic 0x5245
 *  2  version 1
 *  3  flags: 1 = an internal command of the engine
 *  4  index, 8 bytes
 * 12  term, 8 bytes
 * 20  length of the command, 4 bytes; -1 if there is none
 * 24  command
 *     CRC32C of everything before, 4 bytes
 * </pre>
 */
final class EntryRecord {

    /** Bytes of a record besides its command. */
    static final int OVERHEAD_BYTES = 28;

    private static final short MAGIC = 0x5245;
    private static final byte VERSION = 1;
    private static final byte INTERNAL = 1;
    private static final int COMMAND_AT = 24;
    private static final int NO_COMMAND = -1;

    private EntryRecord() {}

    /** Encodes an entry. */
    static byte[] encode(long index, LogEntry entry) {
        byte[] command = entry.command();
        int length = command == null ? 0 : entry.length();
        ByteBuffer record = ByteBuffer.allocate(OVERHEAD_BYTES + length);
        record.putShort(MAGIC)
                .put(VERSION)
                .put(entry.internal() ? INTERNAL : 0)
                .putLong(index)
                .putLong(entry.term())
                .putInt(command == null ? NO_COMMAND : length);
        if (command != null) {
            record.put(command, entry.offset(), length);
        }
        return record.putInt(checksum(record.array())).array();
    }

    /**
     * Decodes an entry. Its command is a part of {@code record}.
     *
     * @param index the index under which the record was found
     * @throws MalformedBytesException if the record is not that entry as it was written
     */
    static LogEntry decode(long index, byte[] record) {
        if (record.length < OVERHEAD_BYTES) {
            throw new MalformedBytesException("its record has " + record.length + " bytes");
        }
        ByteBuffer in = ByteBuffer.wrap(record);
        if (in.getInt(record.length - Integer.BYTES) != checksum(record)) {
            throw new MalformedBytesException("the checksum of its record differs");
        }
        short magic = in.getShort();
        byte version = in.get();
        if (magic != MAGIC || version != VERSION) {
            throw new MalformedBytesException("its record has format " + magic + "." + version
                    + ", this program supports " + MAGIC + "." + VERSION);
        }
        boolean internal = in.get() == INTERNAL;
        long written = in.getLong();
        if (written != index) {
            throw new MalformedBytesException("its record is that of entry " + written);
        }
        long term = in.getLong();
        int length = in.getInt();
        if (Math.max(length, 0) != record.length - OVERHEAD_BYTES) {
            throw new MalformedBytesException("its record has a command of " + length + " bytes");
        }
        return length == NO_COMMAND
                ? new LogEntry(term, null, 0, 0, internal)
                : new LogEntry(term, record, COMMAND_AT, length, internal);
    }

    private static int checksum(byte[] record) {
        CRC32C checksum = new CRC32C();
        checksum.update(record, 0, record.length - Integer.BYTES);
        return (int) checksum.getValue();
    }
}
