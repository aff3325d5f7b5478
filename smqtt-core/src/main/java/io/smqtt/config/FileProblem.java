// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/** Describes why a file cannot be read: it is missing, a directory, or not readable for this user. Blocks. */
@AnyThread
public final class FileProblem {

    private FileProblem() {}

    /** Access to the file system; replaced in tests. */
    interface View {

        BasicFileAttributes attributes(Path file) throws IOException;

        InputStream open(Path file) throws IOException;
    }

    private static final View SYSTEM = new View() {
        @Override
        public BasicFileAttributes attributes(Path file) throws IOException {
            return Files.readAttributes(file, BasicFileAttributes.class);
        }

        @Override
        public InputStream open(Path file) throws IOException {
            return Files.newInputStream(file);
        }
    };

    /**
     * Checks a file and opens it.
     *
     * @param file the file
     * @return why it cannot be read, as the rest of a sentence that begins with the file; null if it can be read
     */
    public static @Nullable String of(Path file) {
        return of(file, SYSTEM);
    }

    static @Nullable String of(Path file, View view) {
        try {
            BasicFileAttributes attributes = view.attributes(file);
            if (attributes.isDirectory()) {
                return "is a directory, but must be a file";
            }
            if (!attributes.isRegularFile()) { // a pipe would be read once and then be empty
                return "must be a regular file, but is a device, a pipe or a socket";
            }
            view.open(file).close();
            return null;
        } catch (IOException e) {
            return reason(file, e);
        }
    }

    /**
     * Describes why a file could not be read.
     *
     * @param file the file
     * @param failure the exception of the attempt to read it
     * @return the reason, as the rest of a sentence that begins with the file
     */
    public static String reason(Path file, IOException failure) {
        if (failure instanceof NoSuchFileException) {
            Path folder = file.toAbsolutePath().getParent();
            return folder == null || Files.isDirectory(folder)
                    ? "does not exist"
                    : "does not exist, and neither does its directory";
        }
        if (failure instanceof AccessDeniedException) {
            return "exists, but the user " + System.getProperty("user.name") + " may not read it" + owner(file);
        }
        if (Files.isDirectory(file)) {
            return "is a directory, but must be a file";
        }
        return "cannot be read (" + failure.getClass().getSimpleName() + ")";
    }

    private static String owner(Path file) {
        try {
            PosixFileAttributes attributes = Files.readAttributes(file, PosixFileAttributes.class);
            return ": it belongs to " + attributes.owner().getName() + ":"
                    + attributes.group().getName() + " with permissions "
                    + PosixFilePermissions.toString(attributes.permissions());
        } catch (IOException | UnsupportedOperationException e) { // a directory above it is not accessible
            return ": a directory above it is not accessible to this user";
        }
    }
}
