// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.config.ConfigurationException;
import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDB;
import org.rocksdb.util.Environment;

/**
 * Loads the native part of RocksDB. It is unpacked into the store's directory once and stays there. The library itself would unpack its 17
 * MB into the temporary directory at each start, and leave them there when the process is killed. The unpacked file is used again only if
 * it has the checksum of the jar. If it cannot be loaded from there, because the disk is full or does not allow executables, the temporary
 * directory is used.
 */
public final class NativeLibrary {

    private static final int BUFFER_BYTES = 256 << 10;

    private static boolean loaded;

    private NativeLibrary() {}

    /**
     * Loads the library, unless this process has loaded it before.
     *
     * @param directory the directory of a store that this process alone uses; the library is unpacked into a directory in it
     * @throws ConfigurationException if there is no library for this machine, or it cannot be loaded
     */
    public static synchronized void load(Path directory) {
        if (!loaded) {
            loadOnce(directory);
            loaded = true;
        }
    }

    private static void loadOnce(Path directory) {
        try {
            Path unpacked = unpacked(directory.resolve("native"));
            if (unpacked != null) {
                RocksDB.loadLibrary(List.of(unpacked.toString()));
                return;
            }
        } catch (IOException | UnsatisfiedLinkError e) {
            // try the temporary directory
        }
        try {
            RocksDB.loadLibrary();
        } catch (UnsatisfiedLinkError | RuntimeException e) {
            throw new ConfigurationException(
                    "storage.kind",
                    "must be memory, because RocksDB cannot be loaded on " + System.getProperty("os.name") + " "
                            + System.getProperty("os.arch") + ": " + reason(e));
        }
    }

    private static String reason(Throwable failure) {
        Throwable deepest = failure;
        while (deepest.getCause() != null) {
            deepest = deepest.getCause();
        }
        return String.valueOf(deepest.getMessage());
    }

    /** The directory with the library, or null if no jar has it. */
    private static @Nullable Path unpacked(Path directory) throws IOException {
        URL packed = RocksDB.class.getResource("/" + Environment.getJniLibraryFileName("rocksdb"));
        URLConnection connection = packed == null ? null : packed.openConnection();
        if (!(connection instanceof JarURLConnection jar)) {
            return null;
        }
        long checksum = jar.getJarEntry().getCrc();
        Path target = directory.resolve(Long.toHexString(checksum));
        Path file = target.resolve(Environment.getJniLibraryFileName("rocksdbjni")); // named twice by the library, too
        if (!Files.exists(file) || checksumOf(file) != checksum) {
            forgetAll(directory);
            Files.createDirectories(target);
            unpack(jar, file);
            StoreFolder.restrict(directory);
            StoreFolder.restrict(target);
        }
        return target;
    }

    private static long checksumOf(Path file) throws IOException {
        CRC32 checksum = new CRC32();
        ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
        try (FileChannel channel = FileChannel.open(file)) {
            while (channel.read(buffer) >= 0) {
                checksum.update(buffer.flip());
                buffer.clear();
            }
        }
        return checksum.getValue();
    }

    /** Writes without a sync: after a power loss the checksum shows an incomplete file. */
    private static void unpack(JarURLConnection jar, Path file) throws IOException {
        Path fresh = file.resolveSibling("unpacking");
        try (InputStream in = jar.getInputStream()) {
            Files.copy(in, fresh, StandardCopyOption.REPLACE_EXISTING);
        }
        Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** Removes the files of other versions. */
    private static void forgetAll(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                if (Files.isDirectory(entry)) {
                    forgetAll(entry);
                }
                Files.delete(entry);
            }
        }
    }
}
