// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.MalformedBytesException;
import java.nio.ByteBuffer;
import org.jgroups.protocols.raft.LogEntries;
import org.jgroups.protocols.raft.LogEntry;

/**
 * Entries as bytes of a message. Numbers are big endian.
 *
 * <pre>
 *  0  version 1
 *  1  for each entry:
 *     term, 8 bytes
 *     flags: 1 = an internal command of the engine, 2 = has a command
 *     length of the command, 4 bytes
 *     command
 * </pre>
 */
final class EntryBytes {

    private static final byte VERSION = 1;
    private static final int INTERNAL = 1;
    private static final int COMMAND = 2;
    private static final int HEAD_BYTES = Long.BYTES + 1 + Integer.BYTES;

    private EntryBytes() {}

    /** Encodes entries. */
    static byte[] encode(LogEntries entries) {
        int bytes = 1;
        for (LogEntry entry : entries) {
            bytes += HEAD_BYTES + entry.length();
        }
        ByteBuffer out = ByteBuffer.allocate(bytes).put(VERSION);
        for (LogEntry entry : entries) {
            byte[] command = entry.command();
            out.putLong(entry.term())
                    .put((byte) ((entry.internal() ? INTERNAL : 0) | (command == null ? 0 : COMMAND)))
                    .putInt(entry.length());
            if (command != null) {
                out.put(command, entry.offset(), entry.length());
            }
        }
        return out.array();
    }

    /**
     * Decodes entries. Their commands are parts of {@code bytes}.
     *
     * @throws MalformedBytesException if the bytes are no entries
     */
    static LogEntries decode(byte[] bytes, int offset, int length) {
        ByteBuffer in = ByteBuffer.wrap(bytes, offset, length);
        if (length < 1 || in.get() != VERSION) {
            throw new MalformedBytesException("entries of another version");
        }
        LogEntries entries = new LogEntries();
        while (in.hasRemaining()) {
            if (in.remaining() < HEAD_BYTES) {
                throw new MalformedBytesException("an entry of " + in.remaining() + " bytes");
            }
            long term = in.getLong();
            int flags = in.get();
            int command = in.getInt();
            boolean hasCommand = (flags & COMMAND) != 0;
            if (term < 0 || command < 0 || command > in.remaining() || !hasCommand && command > 0) {
                throw new MalformedBytesException("an entry with a command of " + command + " bytes");
            }
            boolean isInternal = (flags & INTERNAL) != 0;
            entries.add(
                    hasCommand
                            ? new LogEntry(term, bytes, in.position(), command, isInternal)
                            : new LogEntry(term, null, 0, 0, isInternal));
            in.position(in.position() + command);
        }
        return entries;
    }
}
