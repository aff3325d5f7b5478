// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A check whether a disk accepts data again. */
public final class DiskProbe {

    /** Opening the database also needs space. */
    private static final int BYTES = 1 << 20;

    private DiskProbe() {}

    /**
     * Writes a file of 1 MiB to stable storage, and removes it. Blocks.
     *
     * @param directory where; exists
     * @throws IOException if the disk does not accept it
     */
    public static void write(Path directory) throws IOException {
        Path probe = directory.resolve("probe.tmp");
        try (FileChannel file = FileChannel.open(
                probe, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            ByteBuffer bytes = ByteBuffer.allocate(BYTES);
            while (bytes.hasRemaining()) {
                file.write(bytes);
            }
            file.force(true);
        } finally {
            Files.deleteIfExists(probe);
        }
    }
}
