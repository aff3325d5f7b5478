// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.spi.StoreDamagedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks the database's log files before the database reads them. After a crash the end of a log can be cut off; the missing part was not
 * acknowledged. The library cannot distinguish such an end from damage in the last blocks of a file, and treats blocks of zeros as unused
 * space. Both would silently lose all later records. So this class searches for records after the position where reading ends, and checks
 * that the numbers of the records have no gap, from file to file. Files that the database no longer needs may exist or not: it removes
 * them one by one, the latest first, and a crash can interrupt this.
 */
final class WriteAheadLog {

    private static final Logger LOG = LoggerFactory.getLogger(WriteAheadLog.class);

    private WriteAheadLog() {}

    /**
     * Reads all log files of a database that is closed. After a power loss a hole in the last file is cut off with all later records,
     * unless it was on stable storage: the system writes the pages of a file in any order.
     *
     * @param powerLost whether the machine was restarted since the log was written
     * @throws io.smqtt.spi.StoreDamagedException if records are missing in the middle
     */
    static void requireWhole(Path database, boolean powerLost) {
        try {
            requireWhole(database);
        } catch (StoreDamagedException e) {
            if (!powerLost || !cutWhatWasNeverSynced(database)) {
                throw e;
            }
            requireWhole(database);
        }
    }

    private static boolean cutWhatWasNeverSynced(Path database) {
        List<Path> files = files(database);
        for (int i = files.size() - 1; i >= 0; i--) {
            LogFile log = LogFile.read(files.get(i));
            if (log.hasBytes()) {
                return log.isNeverSynced() && cutHole(files.get(i), log);
            }
        }
        return false;
    }

    private static boolean cutHole(Path file, LogFile log) {
        try {
            cut(file, log.endOf(log.nextSequence() - 1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        LOG.warn(
                "{}: {}. The machine was restarted, and this part was not on stable storage: it is left out",
                file,
                log.damage());
        return true;
    }

    private static void requireWhole(Path database) {
        List<Path> files = files(database);
        StoreDamagedException damage = damage(database, files);
        if (damage != null) {
            Path tables = Manifest.current(database);
            long first = tables == null ? 0 : Manifest.firstLog(tables);
            damage = damage(
                    database,
                    files.stream().filter(file -> number(file) >= first).toList());
        }
        if (damage != null) {
            throw damage;
        }
    }

    private static @Nullable StoreDamagedException damage(Path database, List<Path> files) {
        long expected = LogFile.UNKNOWN;
        Path before = database;
        Path tables = Manifest.current(database);
        for (Path path : files) {
            LogFile log = LogFile.read(path);
            if (log.damage() != null) {
                return Damage.of(path, log.damage(), null);
            }
            if (log.isEmpty()) {
                before = log.hasBytes() ? path : before; // the bytes may have been records
                continue;
            }
            if (expected == LogFile.UNKNOWN
                    && tables != null
                    && before.equals(database)
                    && log.firstSequence() > Manifest.lastSequence(tables) + 1) {
                return Damage.of(tables, "its end is missing, and " + path.getFileName() + " continues after it", null);
            }
            if (!before.equals(database) && log.firstSequence() != expected) {
                return Damage.of(before, "records between it and " + path.getFileName() + " are missing", null);
            }
            expected = log.nextSequence();
            before = path;
        }
        return null;
    }

    /** The first log whose end cannot be read, or null. */
    static @Nullable Path firstCut(Path database) {
        return files(database).stream()
                .filter(path -> LogFile.read(path).isCut())
                .findFirst()
                .orElse(null);
    }

    /**
     * Cuts off records that were written to the log and not committed, so that they do not reappear at the next start.
     *
     * @param sequence the number of the last change that is committed
     */
    static void cutAfter(Path database, long sequence) throws IOException {
        List<Path> files = files(database);
        for (int i = files.size() - 1; i >= 0; i--) {
            LogFile log = LogFile.read(files.get(i));
            cut(files.get(i), log.endOf(sequence));
            if (!log.isEmpty() && log.firstSequence() <= sequence) {
                return;
            }
        }
    }

    private static void cut(Path log, long end) throws IOException {
        try (FileChannel file = FileChannel.open(log, StandardOpenOption.WRITE)) {
            if (end < file.size()) {
                file.truncate(end);
                file.force(true);
            }
        }
    }

    /** The log files in the order in which they were written. */
    private static List<Path> files(Path database) {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> logs = Files.newDirectoryStream(database, "[0-9]*.log")) {
            logs.forEach(files::add);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        files.sort(java.util.Comparator.comparingLong(WriteAheadLog::number));
        return files;
    }

    private static long number(Path log) {
        String name = log.getFileName().toString();
        return Long.parseLong(name.substring(0, name.indexOf('.')));
    }
}
