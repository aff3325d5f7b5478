// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.security;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A file of lines that is renamed when it is full: {@code audit.jsonl} becomes {@code audit.jsonl.1}, and so on. Readable for its owner only.
 * Blocks; not thread-safe.
 */
final class AuditFile implements AutoCloseable {

    private final Path file;
    private final long maxBytes;
    private final int files;
    private @Nullable FileChannel channel;

    /**
     * Creates the writer; nothing is opened yet.
     *
     * @param file the present file
     * @param maxBytes size after which a new one begins
     * @param files maximum number of files
     */
    AuditFile(Path file, long maxBytes, int files) {
        this.file = file;
        this.maxBytes = maxBytes;
        this.files = files;
    }

    void write(byte[] line) throws IOException {
        FileChannel open = channel == null ? open() : channel;
        if (open.size() > 0 && open.size() + line.length > maxBytes) {
            close();
            rotate();
            open = open();
        }
        ByteBuffer rest = ByteBuffer.wrap(line);
        while (rest.hasRemaining()) {
            open.write(rest);
        }
    }

    private FileChannel open() throws IOException {
        boolean posix = file.getFileSystem().supportedFileAttributeViews().contains("posix");
        FileAttribute<?>[] forOwnerOnly = posix
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
                }
                : new FileAttribute<?>[0];
        FileChannel opened =
                FileChannel.open(file, Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND), forOwnerOnly);
        channel = opened;
        return opened;
    }

    private void rotate() throws IOException {
        if (files == 1) {
            Files.deleteIfExists(file);
            return;
        }
        for (int number = files - 1; number >= 1; number--) {
            Path from = number == 1 ? file : numbered(number - 1);
            if (Files.exists(from)) { // else there were fewer files until now
                Files.move(from, numbered(number), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    private Path numbered(int number) {
        return file.resolveSibling(file.getFileName() + "." + number);
    }

    @Override
    public void close() throws IOException {
        FileChannel open = channel;
        channel = null;
        if (open != null) {
            open.close();
        }
    }
}
