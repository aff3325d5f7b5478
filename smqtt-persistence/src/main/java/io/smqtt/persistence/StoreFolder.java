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
 * The directory of a store: its lock, its format and its permissions.
 *
 * <pre>
 * FORMAT   the number of the format, written once the database exists
 * lock     locked while the store is open; names the process
 * boot identifies the start of the machine that wrote to it last
 * db/      the database
 * </pre>
 */
final class StoreFolder implements AutoCloseable {

    /**
     * Increased when older programs cannot read the rows; odd. Format 1 has no numbers of next QoS 2 messages: a program that knows none would take them for
     * messages that await their PUBREL.
     */
    static final int FORMAT = 3;

    /** The same for the rows of a replica; even. Formats 1 and 2 are without these numbers, 1 without reigns. */
    static final int REPLICA_FORMAT = 4;

    private static final Logger LOG = LoggerFactory.getLogger(StoreFolder.class);
    private static final String FORMAT_LINE = "smqtt store format ";
    private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> FOLDER = PosixFilePermissions.fromString("rwx------");

    /** The real paths of the stores that this process has open, because file locks belong to the process, not to a store. */
    private static final Set<Path> OPEN = ConcurrentHashMap.newKeySet();

    private final Path directory;
    private final Path path;
    private final FileChannel lockFile;
    private final int format;
    private final boolean fresh;

    private StoreFolder(Path directory, Path path, FileChannel lockFile, int format) throws IOException {
        this.directory = directory;
        this.path = path;
        this.lockFile = lockFile;
        this.format = format;
        this.fresh = prepare();
    }

    /**
     * Creates the directory and the one above it if they are missing, and locks it.
     *
     * @throws StoreInUseException if it is open already, here or in another process
     * @throws StoreUnusableException if it cannot be read or written
     * @throws io.smqtt.spi.StoreDamagedException if it is not a store, or one of a newer program
     */
    static StoreFolder open(Path directory) {
        return open(directory, FORMAT);
    }

    /** The same for the rows of a replica. Those of an earlier format get the current one, so that older programs do not open them any more. */
    static StoreFolder openReplica(Path directory) {
        return open(directory, REPLICA_FORMAT);
    }

    private static StoreFolder open(Path directory, int format) {
        createAbove(directory.getParent());
        try {
            Files.createDirectories(directory);
            if (!restrict(directory)) {
                LOG.warn(
                        "{} cannot be protected from other users of this machine:"
                                + " its disk does not support permissions, or another user owns it",
                        directory);
            }
            Path path = directory.toRealPath();
            requireClosed(path);
            try {
                FileChannel lockFile = lock(directory);
                try {
                    return new StoreFolder(directory, path, lockFile, format);
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

    /** For its owner only; an existing directory is not changed. */
    private static void createAbove(@Nullable Path directory) {
        if (directory == null || Files.isDirectory(directory)) {
            return;
        }
        try {
            Files.createDirectories(directory);
            restrict(directory);
        } catch (IOException e) {
            throw StoreUnusableException.of(directory, e);
        }
    }

    /** The file lock does not separate stores of this process; closing a second one would release it. */
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
            return null; // this process
        }
    }

    /** Whether a new database must be created. */
    private boolean prepare() throws IOException {
        Path file = directory.resolve("FORMAT");
        boolean exists = Files.exists(database());
        if (Files.exists(file)) {
            int found = formatIn(file);
            requireFormat(file, found);
            if (!exists) {
                throw Damage.of(database(), "the database is missing", null);
            }
            if (found != format) {
                Files.writeString(begun(), FORMAT_LINE + format + "\n");
                created();
            }
            return false;
        }
        if (exists && !Files.exists(begun())) {
            throw Damage.of(file, "the file is missing, so that nobody knows what the database holds", null);
        }
        deleteDatabase(); // the program ended before it could store anything
        Files.writeString(begun(), FORMAT_LINE + format + "\n");
        Files.createDirectories(database());
        return true;
    }

    private static int formatIn(Path file) throws IOException {
        String line = Files.readString(file, StandardCharsets.ISO_8859_1).trim(); // accepts damaged bytes
        if (!line.matches(FORMAT_LINE + "[0-9]{1,9}")) {
            throw Damage.of(file, "the file does not name a format", null);
        }
        return Integer.parseInt(line.substring(FORMAT_LINE.length()));
    }

    private void requireFormat(Path file, int found) {
        if (format == FORMAT && found <= REPLICA_FORMAT && found % 2 == 0) {
            throw new io.smqtt.spi.StoreDamagedException(
                    file
                            + ": the store is a replica, which only a node with storage.replicas above 1 opens. Nothing was changed. "
                            + "\"smqtt data backup\" of that node makes a store of it.",
                    null);
        }
        if (found < 1 || found > format) {
            throw new io.smqtt.spi.StoreDamagedException(
                    file + ": the store has format " + found + ", this program supports " + format
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

    /** Deletes a directory with its content, as far as possible. */
    static void deleteAll(Path directory) {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            LOG.warn("the incomplete files in {} cannot be removed: {}", directory, e.toString());
        }
    }

    private Path begun() {
        return directory.resolve("FORMAT.new");
    }

    /** Whether a new database must be created. */
    boolean isFresh() {
        return fresh;
    }

    /** Marks the directory as a store. */
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

    /** Whether the machine was restarted since the store was open; false if unknown. */
    boolean wasOfAnotherBoot(String bootId) {
        String last = lastBoot();
        return !bootId.isEmpty() && !last.isEmpty() && !last.equals(bootId);
    }

    /** Stores the identifier of this start of the machine. */
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

    /** Turns a copy of the database into a store. */
    static void complete(Path copy) throws IOException {
        complete(copy, FORMAT);
    }

    /** Turns a copy of the rows of a replica into those of another one. */
    static void completeReplica(Path copy) throws IOException {
        complete(copy, REPLICA_FORMAT);
    }

    private static void complete(Path copy, int format) throws IOException {
        Files.writeString(copy.resolve("FORMAT"), FORMAT_LINE + format + "\n");
        sync(copy.resolve("FORMAT"));
        restrict(copy);
        restrict(copy.resolve("db"));
    }

    /**
     * Restricts a directory and its files to their owner; the library creates files that others can read.
     *
     * @return false if the disk does not support permissions, or another user owns the directory
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
            return false; // a readable store is better than none
        }
    }

    private static void restrictEntry(Path file) throws IOException {
        try {
            Set<PosixFilePermission> wanted = Files.isDirectory(file) ? FOLDER : FILE;
            if (!Files.getPosixFilePermissions(file).equals(wanted)) {
                Files.setPosixFilePermissions(file, wanted);
            }
        } catch (NoSuchFileException e) {
            // the database has removed it meanwhile
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
