// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The directory of a store: who has it open, which format it has, and who may read it.
 *
 * <pre>
 * FORMAT   the number of the format, written once the database exists
 * lock     locked while the store is open; names the process
 * db/      the database
 * </pre>
 */
final class StoreFolder implements AutoCloseable {

    /** Changes when an older program could not read the rows any more. */
    static final int FORMAT = 1;

    private static final String FORMAT_LINE = "smqtt store format ";
    private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> FOLDER = PosixFilePermissions.fromString("rwx------");

    private final Path directory;
    private final FileChannel lockFile;
    private final boolean fresh;

    private StoreFolder(Path directory, FileChannel lockFile) throws IOException {
        this.directory = directory;
        this.lockFile = lockFile;
        this.fresh = prepare();
    }

    /**
     * Makes the directory if it is not there, and locks it.
     *
     * @throws StoreInUseException if another process has it open
     * @throws io.smqtt.spi.StoreDamagedException if it is no store, or one of a newer program
     */
    static StoreFolder open(Path directory) {
        try {
            Files.createDirectories(directory);
            restrict(directory);
            FileChannel lockFile = lock(directory);
            try {
                return new StoreFolder(directory, lockFile);
            } catch (IOException | RuntimeException e) {
                lockFile.close();
                throw e;
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the directory of the store cannot be used: " + e, e);
        }
    }

    private static FileChannel lock(Path directory) throws IOException {
        Path path = directory.resolve("lock");
        FileChannel file =
                FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        FileLock lock = tryLock(file);
        if (lock == null) {
            String owner = Files.readString(path, StandardCharsets.ISO_8859_1).trim();
            file.close();
            throw new StoreInUseException("the store in " + directory + " is in use by "
                    + (owner.isEmpty() ? "another process" : owner) + "; two brokers cannot share it");
        }
        file.truncate(0);
        file.write(
                ByteBuffer.wrap(("process " + ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.UTF_8)));
        return file;
    }

    private static @Nullable FileLock tryLock(FileChannel file) throws IOException {
        try {
            return file.tryLock();
        } catch (OverlappingFileLockException e) {
            return null; // this very process
        }
    }

    /** Whether a database is to be made. */
    private boolean prepare() throws IOException {
        Path format = directory.resolve("FORMAT");
        boolean exists = Files.exists(database());
        if (Files.exists(format)) {
            requireFormat(format);
            if (!exists) {
                throw Damage.of(database(), "the database is missing", null);
            }
            return false;
        }
        if (exists && !Files.exists(begun())) {
            throw Damage.of(format, "the file is missing, so that nobody knows what the database holds", null);
        }
        deleteDatabase(); // the program ended before anything could be stored
        Files.writeString(begun(), FORMAT_LINE + FORMAT + "\n");
        Files.createDirectories(database());
        return true;
    }

    private static void requireFormat(Path file) throws IOException {
        String line = Files.readString(file, StandardCharsets.ISO_8859_1).trim(); // takes damaged bytes, too
        if (!line.matches(FORMAT_LINE + "[0-9]{1,9}")) {
            throw Damage.of(file, "the file does not name a format", null);
        }
        int found = Integer.parseInt(line.substring(FORMAT_LINE.length()));
        if (found != FORMAT) {
            throw new io.smqtt.spi.StoreDamagedException(
                    file + ": the store has format " + found + ", this program knows " + FORMAT
                            + ". Nothing was changed. Use the version of smqtt that wrote it, or export there and import here.",
                    null);
        }
    }

    private void deleteDatabase() throws IOException {
        if (Files.exists(database())) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(database())) {
                for (Path file : files) {
                    Files.delete(file);
                }
            }
        }
    }

    private Path begun() {
        return directory.resolve("FORMAT.new");
    }

    /** Whether a database is to be made. */
    boolean isFresh() {
        return fresh;
    }

    /** From now on there is a store. */
    void created() {
        try {
            sync(begun());
            Files.move(begun(), directory.resolve("FORMAT"), StandardCopyOption.ATOMIC_MOVE);
            sync(directory);
            restrict(directory);
        } catch (IOException e) {
            throw new UncheckedIOException("the directory of the store cannot be written to: " + e, e);
        }
    }

    private static void sync(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    Path database() {
        return directory.resolve("db");
    }

    Path directory() {
        return directory;
    }

    @Override
    public void close() {
        try {
            lockFile.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Makes a copy of the database a store. */
    static void complete(Path copy) throws IOException {
        Files.writeString(copy.resolve("FORMAT"), FORMAT_LINE + FORMAT + "\n");
        sync(copy.resolve("FORMAT"));
        restrict(copy);
        restrict(copy.resolve("db"));
    }

    /** Takes a directory and its files away from everybody else; the library makes files that others can read. */
    static void restrict(Path directory) {
        if (!directory.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            return;
        }
        try {
            Files.setPosixFilePermissions(directory, FOLDER);
            try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
                for (Path file : files) {
                    restrictEntry(file);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the permissions of " + directory + " cannot be set: " + e, e);
        }
    }

    private static void restrictEntry(Path file) throws IOException {
        try {
            Set<PosixFilePermission> wanted = Files.isDirectory(file) ? FOLDER : FILE;
            if (!Files.getPosixFilePermissions(file).equals(wanted)) {
                Files.setPosixFilePermissions(file, wanted);
            }
        } catch (NoSuchFileException e) {
            // the database has just removed it
        }
    }

    /** The size of the files in a directory. */
    static long bytesOf(Path directory) {
        long bytes = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                bytes += sizeOf(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes;
    }

    private static long sizeOf(Path file) throws IOException {
        try {
            return Files.size(file);
        } catch (NoSuchFileException e) {
            return 0;
        }
    }
}
