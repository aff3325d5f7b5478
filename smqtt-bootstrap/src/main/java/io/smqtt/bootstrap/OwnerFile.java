// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;

/** New files that only their owner can read. */
final class OwnerFile {

    private OwnerFile() {}

    /**
     * Creates a file. Blocks.
     *
     * @param path does not exist
     * @return writes into it
     * @throws IOException if it cannot be created, or exists
     */
    static OutputStream create(Path path) throws IOException {
        if (path.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            Files.createFile(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            return Files.newOutputStream(path);
        }
        return Files.newOutputStream(path, StandardOpenOption.CREATE_NEW);
    }
}
