// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** A snapshot in a file: its bytes behind their checksum. It is replaced as a whole, or not at all. */
final class SnapshotFile {

    private static final int MAGIC = 0x52534E31;
    private static final int HEADER_BYTES = 2 * Integer.BYTES;

    private SnapshotFile() {}

    /** Replaces the snapshot; it is on stable storage when the method returns. */
    static void write(Path file, ByteBuffer snapshot) throws IOException {
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES)
                .putInt(MAGIC)
                .putInt(checksum(snapshot))
                .flip();
        try (FileChannel channel = FileChannel.open(
                fresh, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            writeAll(channel, header);
            writeAll(channel, snapshot.duplicate());
            channel.force(true);
        }
        Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        SyncMark.syncNameOf(file);
    }

    private static void writeAll(FileChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    /**
     * Reads the snapshot, or returns null if there is none.
     *
     * @throws io.smqtt.spi.StoreDamagedException if it is damaged
     */
    static @Nullable ByteBuffer read(Path file) throws IOException {
        if (!Files.exists(file)) {
            return null;
        }
        ByteBuffer content = ByteBuffer.wrap(Files.readAllBytes(file));
        boolean isWhole = content.remaining() >= HEADER_BYTES
                && content.getInt() == MAGIC
                && content.getInt() == checksum(content);
        if (!isWhole) {
            throw ReplicaDamage.of(
                    Objects.requireNonNull(file.toAbsolutePath().getParent()),
                    "the checksum of its file " + file.getFileName() + " differs",
                    null);
        }
        return content.slice();
    }

    private static int checksum(ByteBuffer bytes) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes.duplicate());
        return (int) checksum.getValue();
    }
}
