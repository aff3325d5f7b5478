// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.MalformedBytesException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.zip.CRC32C;

/**
 * A file with the revision of the log that is known to be on stable storage. A database whose newest file has lost its end looks like one
 * before its last writes, and opens. Those writes may have been votes, or entries that were acknowledged: this mark tells them from a write
 * that a crash has interrupted.
 *
 * <p>The mark is written after each sync, and not synced itself. After the end of the process it is exact, after a power loss it may be
 * older, which is still true. Two slots are written in turn, each in a sector of its own, so that one of them is always whole.
 */
final class SyncMark implements AutoCloseable {

    private static final int SLOTS = 2;
    private static final int SLOT_BYTES = 512;
    private static final int CONTENT_BYTES = Long.BYTES + Integer.BYTES;
    private static final long NONE = -1;

    private final RandomAccessFile file; // not a channel, which an interrupt of the writing thread would close
    private final ByteBuffer slot = ByteBuffer.allocate(CONTENT_BYTES);
    private int next; // the slot that does not have the latest mark

    private SyncMark(RandomAccessFile file) {
        this.file = file;
    }

    /** Opens the mark of a log. */
    static SyncMark open(Path path) throws IOException {
        return new SyncMark(new RandomAccessFile(path.toFile(), "rw"));
    }

    /** Creates the mark of a log; the file has its name only when it is on stable storage. */
    static SyncMark create(Path path, long revision) throws IOException {
        Path fresh = path.resolveSibling(path.getFileName() + ".new");
        Files.deleteIfExists(fresh);
        try (SyncMark mark = open(fresh)) {
            mark.advance(revision);
            mark.file.getFD().sync();
        }
        Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        syncNameOf(path);
        return open(path);
    }

    /** Syncs the directory of a file, with its name. */
    static void syncNameOf(Path file) throws IOException {
        Path directory = Objects.requireNonNull(file.toAbsolutePath().getParent());
        try (FileChannel names = FileChannel.open(directory, StandardOpenOption.READ)) {
            names.force(true);
        }
    }

    /** Sets the mark. */
    void advance(long revision) throws IOException {
        slot.clear();
        slot.putLong(revision).putInt(checksum(slot));
        file.seek((long) next * SLOT_BYTES);
        file.write(slot.array());
        next = (next + 1) % SLOTS;
    }

    /**
     * Reads the mark. Called before the first {@link #advance} of a mark that was opened.
     *
     * @throws MalformedBytesException if neither slot can be read
     */
    long read() throws IOException {
        long latest = NONE;
        for (int i = 0; i < SLOTS; i++) {
            long position = (long) i * SLOT_BYTES;
            if (file.length() >= position + CONTENT_BYTES) {
                file.seek(position);
                file.readFully(slot.array());
                if (slot.getInt(Long.BYTES) == checksum(slot) && slot.getLong(0) > latest) {
                    latest = slot.getLong(0);
                    next = (i + 1) % SLOTS;
                }
            }
        }
        if (latest == NONE) {
            throw new MalformedBytesException("the checksum of its mark differs");
        }
        return latest;
    }

    private static int checksum(ByteBuffer slot) {
        CRC32C checksum = new CRC32C();
        checksum.update(slot.duplicate().clear().limit(Long.BYTES));
        return (int) checksum.getValue();
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
