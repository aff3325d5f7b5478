// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.spi.StoreDamagedException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.rocksdb.Options;
import org.rocksdb.RocksDBException;
import org.rocksdb.SstFileReader;
import org.rocksdb.Status;

/** Creates errors that name the damaged file and the remedy. */
final class Damage {

    private static final String ADVICE =
            ". Nothing was changed. Restore the directory from a backup, or move it away to"
                    + " start without stored sessions and messages.";
    private static final Pattern NAMED_FILE = Pattern.compile("(MANIFEST-[0-9]+|CURRENT|[0-9]{6,}\\.(?:sst|log))");

    private static final String CURRENT = "CURRENT";

    private Damage() {}

    /**
     * Creates an exception.
     *
     * @param file the damaged file
     * @param what the damage
     * @param cause the error of the library, or null
     */
    static StoreDamagedException of(Path file, String what, @Nullable Throwable cause) {
        return new StoreDamagedException("the store is damaged: " + file + ": " + what + ADVICE, cause);
    }

    /** A message of a session cannot be decoded, or not be read. */
    static StoreDamagedException of(MalformedBytesException row, Path directory, long session, long sequence) {
        StoreDamagedException damage = of(row, directory);
        return new StoreDamagedException(
                damage.getMessage() + " (message " + sequence + " of session " + session + ")", row, sequence);
    }

    static StoreDamagedException of(MalformedBytesException row, Path directory) {
        return row.getCause() instanceof RocksDBException failure
                ? of(failure, directory)
                : of(directory, "a row cannot be read: " + row.getMessage(), row);
    }

    static StoreDamagedException of(RocksDBException failure, Path directory) {
        String message = String.valueOf(failure.getMessage());
        return of(culprit(message, directory), message, failure);
    }

    /** Finds the damaged file. The library does not always name it, and names its manifest for a table that it cannot open. */
    private static Path culprit(String message, Path directory) {
        Matcher file = NAMED_FILE.matcher(message);
        Path named = file.find() ? directory.resolve(file.group(1)) : null;
        if (named != null && isTable(named)) {
            return named;
        }
        if (named != null && Files.notExists(named)) {
            return directory.resolve(CURRENT); // which proves that the file exists
        }
        Path list = named == null ? listOfTables(directory) : named;
        if (message.startsWith("Column family")) {
            return list;
        }
        Path log = named == null ? WriteAheadLog.firstCut(directory) : null;
        return damagedTable(directory, log == null ? list : log);
    }

    private static Path listOfTables(Path directory) {
        try {
            return directory.resolve(
                    Files.readString(directory.resolve(CURRENT)).strip());
        } catch (IOException | InvalidPathException e) {
            return directory;
        }
    }

    private static boolean isTable(Path file) {
        return file.toString().endsWith(".sst");
    }

    private static Path damagedTable(Path directory, Path otherwise) {
        try (DirectoryStream<Path> tables = Files.newDirectoryStream(directory, "*.sst")) {
            for (Path table : tables) {
                if (!isReadable(table)) {
                    return table;
                }
            }
        } catch (IOException e) {
            // the file is not known more precisely
        }
        return otherwise;
    }

    private static boolean isReadable(Path table) {
        try (Options options = new Options();
                SstFileReader reader = new SstFileReader(options)) {
            reader.open(table.toString());
            reader.verifyChecksum();
            return true;
        } catch (RocksDBException e) {
            return false;
        }
    }

    /**
     * Converts a failure: damage to its own exception, others, for example a full disk, with the text of the library.
     *
     * @param database the directory of the database
     */
    static RuntimeException orFailure(RocksDBException failure, Path database) {
        Path store = database.getParent();
        return isDamage(failure)
                ? of(failure, database)
                : StoreUnusableException.of(store == null ? database : store, failure);
    }

    /** Converts the failure of a read: if the file is damaged, this row cannot be read. */
    static RocksDBException rowOrFailure(RocksDBException failure) {
        if (isDamage(failure)) {
            throw new MalformedBytesException(failure.getMessage(), failure);
        }
        return failure;
    }

    /** Whether a retry is useless. */
    static boolean isDamage(RocksDBException failure) {
        Status status = failure.getStatus();
        if (status == null) {
            return false;
        }
        String message = String.valueOf(failure.getMessage());
        return switch (status.getCode()) {
            case Corruption, NotFound, NotSupported -> true;
            case InvalidArgument -> true; // a column family or the database itself is missing
            case IOError -> message.contains("No such file") || message.contains("too short");
            default -> false;
        };
    }
}
