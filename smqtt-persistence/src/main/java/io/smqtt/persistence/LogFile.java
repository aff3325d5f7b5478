// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * One log file of the database. The format: blocks of 32 KiB; in them fragments of a header (checksum, length, type) and
 * data, none across two blocks; a record is one fragment, or a first, middle ones and a last. A record is a batch, and
 * begins with the number of its first change and how many there are.
 */
final class LogFile {

    static final long UNKNOWN = -1;

    private static final int BLOCK = 32 << 10;
    private static final int HEADER = 7;
    private static final int BATCH_HEADER = 12;
    private static final int FULL = 1;
    private static final int FIRST = 2;
    private static final int LAST = 4;
    private static final int SMALLEST_META = 9;
    private static final int NOTE = 0x03;
    private static final int NOTED_BYTES = BATCH_HEADER + 2 + Long.BYTES;

    private final FileChannel file;
    private final long size;
    private final ByteBuffer block = ByteBuffer.allocate(BLOCK).order(ByteOrder.LITTLE_ENDIAN);
    private final CRC32C checksum = new CRC32C();
    private final List<long[]> ends = new ArrayList<>(); // next sequence number, end of its record
    private long firstSequence = UNKNOWN;
    private long nextSequence = UNKNOWN;
    private final ByteBuffer batchHeader = ByteBuffer.allocate(BATCH_HEADER).order(ByteOrder.LITTLE_ENDIAN);
    private long loaded = UNKNOWN;
    private boolean inRecord;
    private boolean cut;
    private boolean neverSynced;
    private @Nullable String damage;

    private LogFile(FileChannel file) throws IOException {
        this.file = file;
        this.size = file.size();
    }

    static LogFile read(Path path) {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            LogFile log = new LogFile(channel);
            log.scan();
            return log;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether there is no record. */
    boolean isEmpty() {
        return firstSequence == UNKNOWN;
    }

    /** Whether the file has any bytes. */
    boolean hasBytes() {
        return size > 0;
    }

    long firstSequence() {
        return firstSequence;
    }

    /** The number of the first change in the next file. */
    long nextSequence() {
        return nextSequence;
    }

    /** The damage, or null. A cut end is no damage. */
    @Nullable
    String damage() {
        return damage;
    }

    /** Whether the file has unreadable bytes at its end. */
    boolean isCut() {
        return cut;
    }

    /**
     * Whether the damage is a hole that was not on stable storage when the records after it were written, according to these records. A
     * power loss can cause this.
     */
    boolean isNeverSynced() {
        return neverSynced;
    }

    /** The end of the record with a change. */
    long endOf(long sequence) {
        long end = 0;
        for (long[] record : ends) {
            if (record[0] > sequence + 1) {
                break;
            }
            end = record[1];
        }
        return end;
    }

    private void scan() throws IOException {
        long at = 0;
        while (damage == null && size - at >= HEADER) {
            int room = BLOCK - place(at);
            if (room < HEADER) {
                at += room;
                continue;
            }
            int length = fragment(at);
            if (length < 0) {
                cut = true;
                requireNothingBehind(at);
                return;
            }
            take(at, length);
            at += HEADER + length;
        }
    }

    private static int place(long at) {
        return (int) (at % BLOCK);
    }

    private void load(long at) throws IOException {
        long wanted = at / BLOCK;
        if (loaded != wanted) {
            block.clear();
            while (block.hasRemaining() && file.read(block, wanted * BLOCK + block.position()) > 0) {
                // usually one read is sufficient
            }
            block.flip();
            loaded = wanted;
        }
    }

    /** The length of the data of a whole fragment, or -1. */
    private int fragment(long at) throws IOException {
        load(at);
        int begin = place(at);
        int length = block.getShort(begin + 4) & 0xFFFF;
        int end = begin + HEADER + length;
        if (block.get(begin + 6) == 0 || end > block.limit()) {
            return -1;
        }
        checksum.reset();
        checksum.update(block.duplicate().position(begin + 6).limit(end));
        int crc = (int) checksum.getValue();
        int masked = (crc >>> 15 | crc << 17) + 0xA282EAD8;
        return masked == block.getInt(begin) ? length : -1;
    }

    /** In the loaded block. */
    private void take(long at, int length) {
        int data = place(at) + HEADER;
        int type = block.get(data - 1) & 0xFF;
        if (type >= SMALLEST_META) {
            return;
        }
        boolean begins = type == FULL || type == FIRST;
        if (begins == inRecord) {
            damage = "fragments of a record are missing at " + at;
            return;
        }
        if (begins) {
            batchHeader.clear();
        }
        int headerBytes = Math.min(length, batchHeader.remaining()); // the header may be split into two fragments
        batchHeader.put(block.duplicate().position(data).limit(data + headerBytes));
        inRecord = type != FULL && type != LAST;
        if (!inRecord) {
            record(at, at + HEADER + length);
        }
    }

    private void record(long at, long end) {
        if (batchHeader.hasRemaining()) {
            damage = "a record is too short at " + at;
            return;
        }
        long pendingSequence = batchHeader.getLong(0);
        long pendingCount = batchHeader.getInt(Long.BYTES) & 0xFFFF_FFFFL;
        if (firstSequence == UNKNOWN) {
            firstSequence = pendingSequence;
        } else if (pendingSequence != nextSequence) {
            damage = "records are missing before " + at;
        }
        nextSequence = pendingSequence + pendingCount;
        ends.add(new long[] {nextSequence, end});
    }

    /** Searches for a record after a damaged position. If there is none, the file was cut off there. */
    private void requireNothingBehind(long bad) throws IOException {
        long synced = 0;
        for (long at = bad + 1; size - at >= HEADER + BATCH_HEADER; at++) {
            int length = beginning(at);
            if (length < BATCH_HEADER) {
                continue;
            }
            if (damage == null) {
                damage = "it cannot be read at " + bad + ", and continues at " + at;
            }
            synced = Math.max(synced, notedAt(place(at) + HEADER, length));
            at += HEADER + length - 1;
        }
        neverSynced = damage != null && nextSequence != UNKNOWN && synced < nextSequence;
    }

    /** The length of the data of a whole fragment that begins a record, or -1. */
    private int beginning(long at) throws IOException {
        if (BLOCK - place(at) < HEADER) {
            return -1;
        }
        load(at);
        int type = place(at) + HEADER > block.limit() ? 0 : block.get(place(at) + 6);
        return type == FULL || type == FIRST ? fragment(at) : -1;
    }

    /** The number of the last change on stable storage, according to a record; the maximum if the record does not have it. */
    private long notedAt(int data, int length) {
        boolean noted = length >= NOTED_BYTES
                && block.get(data + BATCH_HEADER) == NOTE
                && block.get(data + BATCH_HEADER + 1) == Long.BYTES;
        return noted ? block.getLong(data + BATCH_HEADER + 2) : Long.MAX_VALUE;
    }
}
