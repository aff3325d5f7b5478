// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Checks the database's list of table files before the database reads it. To the library a list whose end is cut off is an older list: it
 * treats tables that were added later as leftovers, and silently loses their changes, which the log no longer has. The number of the last
 * change reveals this: the log cannot begin after it.
 */
final class Manifest {

    private static final int BLOCK = 32 << 10;
    private static final int HEADER = 7;
    private static final int FULL = 1;
    private static final int FIRST = 2;
    private static final int MIDDLE = 3;
    private static final int LARGEST_TYPE = 4;

    // fields of an edit that can precede the number of the last change
    private static final int COMPARATOR = 1;
    private static final int LOG_NUMBER = 2;
    private static final int NEXT_FILE_NUMBER = 3;
    private static final int LAST_SEQUENCE = 4;
    private static final int PREVIOUS_LOG_NUMBER = 9;
    private static final int FIRST_LOG_TO_KEEP = 10;
    private static final int LARGEST_FAMILY = 203;
    private static final int DATABASE_ID = 8193;

    private final ByteBuffer record = ByteBuffer.allocate(BLOCK); // the beginning is sufficient
    private long lastSequence;
    private long firstLog;

    private Manifest() {}

    /**
     * The list in use, or null if it cannot be determined.
     *
     * @throws UncheckedIOException if the directory cannot be read
     */
    static @Nullable Path current(Path database) {
        try {
            String name = Files.readString(database.resolve("CURRENT")).strip();
            Path manifest = database.resolve(name);
            return name.startsWith("MANIFEST-") && Files.isRegularFile(manifest) ? manifest : null;
        } catch (NoSuchFileException | MalformedInputException e) {
            return null; // the library has a better error
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The largest number of a change that the list knows of; 0 if none. */
    static long lastSequence(Path manifest) {
        return reading(manifest).lastSequence;
    }

    /** The number of the first log that the database needs; 0 if the list does not have it. */
    static long firstLog(Path manifest) {
        return reading(manifest).firstLog;
    }

    private static Manifest reading(Path manifest) {
        try {
            Manifest reading = new Manifest();
            reading.read(ByteBuffer.wrap(Files.readAllBytes(manifest)).order(ByteOrder.LITTLE_ENDIAN));
            return reading;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void read(ByteBuffer file) {
        int at = 0;
        while (at + HEADER <= file.limit()) {
            int room = BLOCK - at % BLOCK;
            if (room < HEADER) {
                at += room;
                continue;
            }
            int length = file.getShort(at + 4) & 0xFFFF;
            int type = file.get(at + 6);
            if (type < FULL || type > LARGEST_TYPE || at + HEADER + length > file.limit()) {
                return; // its end, or something for the library to check
            }
            take(type, file.duplicate().position(at + HEADER).limit(at + HEADER + length));
            at += HEADER + length;
        }
    }

    private void take(int type, ByteBuffer fragment) {
        if (type == FULL || type == FIRST) {
            record.clear();
        }
        fragment.limit(Math.min(fragment.limit(), fragment.position() + record.remaining()));
        record.put(fragment);
        if (type != FIRST && type != MIDDLE) {
            edit(record.duplicate().flip());
        }
    }

    private void edit(ByteBuffer edit) {
        while (edit.hasRemaining()) {
            switch ((int) number(edit)) {
                case COMPARATOR, DATABASE_ID -> skip(edit, number(edit));
                case LOG_NUMBER, NEXT_FILE_NUMBER, PREVIOUS_LOG_NUMBER, LARGEST_FAMILY -> number(edit);
                case FIRST_LOG_TO_KEEP -> firstLog = Math.max(firstLog, number(edit));
                case LAST_SEQUENCE -> {
                    lastSequence = Math.max(lastSequence, number(edit));
                    return;
                }
                default -> {
                    return;
                }
            }
        }
    }

    private static void skip(ByteBuffer edit, long bytes) {
        edit.position((int) Math.min(edit.limit(), edit.position() + Math.max(0, bytes)));
    }

    /** Seven bits in each byte, the lowest first. */
    private static long number(ByteBuffer edit) {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE && edit.hasRemaining(); shift += 7) {
            byte next = edit.get();
            value |= (next & 0x7FL) << shift;
            if (next >= 0) {
                break;
            }
        }
        return value;
    }
}
