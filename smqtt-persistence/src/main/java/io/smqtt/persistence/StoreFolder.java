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
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory of a store: who has it open, which format it has, and who may read it.
 *
 * <pre>
 * FORMAT   the number of the format, written once the database exists
 * lock     locked while the store is open; names the process
 * boot     which start of the machine wrote to it last
 * db/      the database
 * </pre>
 */
final class StoreFolder implements AutoCloseable {

    /** Changes when an older program could not read the rows any more. */
    static final int FORMAT = 1;

    private static final Logger LOG = LoggerFactory.getLogger(StoreFolder.class);
    private static final String FORMAT_LINE = "smqtt store format ";
    private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> FOLDER = PosixFilePermissions.fromString("rwx------");

    /** The real paths of what this process has open: its locks are the process's, whoever of it asks for them. */
    private static final Set<Path> OPEN = ConcurrentHashMap.newKeySet();

    private final Path directory;
    private final Path path;
    private final FileChannel lockFile;
    private final boolean fresh;

    private StoreFolder(Path directory, Path path, FileChannel lockFile) throws IOException {
        this.directory = directory;
        this.path = path;
        this.lockFile = lockFile;
        this.fresh = prepare();
    }

    /**
     * Makes the directory if it is not there, and locks it.
     *
     * @throws StoreInUseException if it is open already, here or in another process
     * @throws StoreUnusableException if it cannot be read or written
     * @throws io.smqtt.spi.StoreDamagedException if it is no store, or one of a newer program
     */
    static StoreFolder open(Path directory) {
        try {
            Files.createDirectories(directory);
            if (!restrict(directory)) {
                LOG.warn(
                        "{} and what is in it cannot be taken away from other users of this machine:"
                                + " its disk does not keep permissions, or another user owns it",
                        directory);
            }
            Path path = directory.toRealPath();
            requireClosed(path);
            try {
                FileChannel lockFile = lock(directory);
                try {
                    return new StoreFolder(directory, path, lockFile);
                } catch (IOException | RuntimeException e) {
                    lockFile.close();
                    throw e;
                }
            } catch (IOException | RuntimeException e) {
                OPEN.remove(path);
                throw e;
            }
        } catch (IOException e) {
            throw StoreUnusableException.of(directory, e);
        }
    }

    /** The system's lock does not tell one store of this process from another; closing a second one would give it up. */
    private static void requireClosed(Path path) {
        if (!OPEN.add(path)) {
            throw new StoreInUseException("the store in " + path + " is in use by process "
                    + ProcessHandle.current().pid() + ", this one; two brokers cannot share it");
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

    /** Deletes a directory with all that is in it, as far as that is possible. */
    static void deleteAll(Path directory) {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            LOG.warn("what was begun in {} cannot be removed: {}", directory, e.toString());
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
            throw StoreUnusableException.of(directory, e);
        }
    }

    /** Whether the machine was started anew since the store was open; false if that is not known. */
    boolean wasOfAnotherBoot(String bootId) {
        String last = lastBoot();
        return !bootId.isEmpty() && !last.isEmpty() && !last.equals(bootId);
    }

    /** Remembers which start of the machine this is. */
    void ofBoot(String bootId) {
        if (lastBoot().equals(bootId)) {
            return;
        }
        Path file = directory.resolve("boot");
        try {
            Files.writeString(file, bootId + "\n");
            sync(file);
            sync(directory);
        } catch (IOException e) {
            throw StoreUnusableException.of(directory, e);
        }
        restrict(directory);
    }

    private String lastBoot() {
        try {
            return Files.readString(directory.resolve("boot"), StandardCharsets.ISO_8859_1)
                    .trim();
        } catch (IOException e) {
            return ""; // there was none
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
        } finally {
            OPEN.remove(path);
        }
    }

    /** Makes a copy of the database a store. */
    static void complete(Path copy) throws IOException {
        Files.writeString(copy.resolve("FORMAT"), FORMAT_LINE + FORMAT + "\n");
        sync(copy.resolve("FORMAT"));
        restrict(copy);
        restrict(copy.resolve("db"));
    }

    /**
     * Takes a directory and its files away from everybody else; the library makes files that others can read.
     *
     * @return false if the disk does not keep permissions, or the directory is another user's
     */
    static boolean restrict(Path directory) {
        if (!directory.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            return true;
        }
        try {
            restrictEntry(directory);
            try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
                for (Path file : files) {
                    restrictEntry(file);
                }
            }
            return true;
        } catch (IOException e) {
            return false; // a store that others can read is better than none
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
