// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.trace;

import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The files of the traces of a node, one per trace. Only their owner may read them. All methods block. */
@AnyThread
final class TraceFiles {

    private static final String SUFFIX = ".log";

    private final @Nullable Path given;
    private @Nullable Path folder; // guarded by this

    /**
     * Creates it; nothing is opened yet.
     *
     * @param given the folder; null for a temporary one, which ends with the broker
     */
    TraceFiles(@Nullable Path given) {
        this.given = given;
    }

    /**
     * A part of a file.
     *
     * @param text whole lines, unless one line is longer than was asked for
     * @param next the position behind the text
     * @param size the size of the file
     */
    record Part(String text, long next, long size) {}

    /** The name of a file. Another trace of the same name has another one, since it begins at another time. */
    private static String nameOf(String trace, TraceSpec spec) {
        return trace + '-' + spec.start().getEpochSecond() + SUFFIX;
    }

    private synchronized Path folder() throws IOException {
        Path present = folder;
        if (present == null) {
            present = given == null ? Files.createTempDirectory("smqtt-trace-") : given;
            Files.createDirectories(present, forOwner("rwx------"));
            folder = present;
        }
        return present;
    }

    private synchronized @Nullable Path folderIfUsed() {
        return folder == null && given != null && Files.isDirectory(given) ? given : folder;
    }

    private static FileAttribute<?>[] forOwner(String rights) {
        boolean posix =
                Path.of("").getFileSystem().supportedFileAttributeViews().contains("posix");
        return posix
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(rights))}
                : new FileAttribute<?>[0];
    }

    /** Opens the file of a trace, to be appended to. */
    FileChannel open(String trace, TraceSpec spec) throws IOException {
        return FileChannel.open(
                folder().resolve(nameOf(trace, spec)),
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND),
                forOwner("rw-------"));
    }

    /** Deletes the files of traces that are not among the given ones. */
    void keepOnly(Map<String, TraceSpec> traces) throws IOException {
        Map<String, String> kept = new HashMap<>();
        traces.forEach((trace, spec) -> kept.put(nameOf(trace, spec), trace));
        Path present = folderIfUsed();
        if (present == null) {
            return;
        }
        try (Stream<Path> all = Files.list(present)) {
            for (Path file : all.toList()) {
                String name = file.getFileName().toString();
                if (name.endsWith(SUFFIX) && !kept.containsKey(name)) {
                    Files.deleteIfExists(file);
                }
            }
        }
    }

    /** The size and the time of the last change of the file of a trace; null if there is none. */
    @Nullable
    Detail detail(String trace, TraceSpec spec) throws IOException {
        Path present = folderIfUsed();
        Path file = present == null ? null : present.resolve(nameOf(trace, spec));
        return file == null || !Files.exists(file)
                ? null
                : new Detail(Files.size(file), Files.getLastModifiedTime(file).toInstant());
    }

    /**
     * A file.
     *
     * @param size bytes
     * @param changed the time of the last change
     */
    record Detail(long size, Instant changed) {}

    /**
     * Reads a part of a file.
     *
     * @param position where the part begins
     * @param bytes the maximum length
     */
    Part read(String trace, TraceSpec spec, long position, int bytes) throws IOException {
        Path present = folderIfUsed();
        if (present == null) {
            return new Part("", 0, 0);
        }
        try (FileChannel file = FileChannel.open(present.resolve(nameOf(trace, spec)), StandardOpenOption.READ)) {
            long size = file.size();
            ByteBuffer part = ByteBuffer.allocate((int) Math.max(0, Math.min(bytes, size - position)));
            int count = 0;
            while (part.hasRemaining() && count >= 0) {
                count = file.read(part, position + part.position());
            }
            int length = wholeLines(part.array(), part.position());
            String text = new String(part.array(), 0, length, StandardCharsets.UTF_8);
            return new Part(text, Math.min(position, size) + length, size);
        } catch (NoSuchFileException e) { // nothing has happened yet
            return new Part("", 0, 0);
        }
    }

    /** The length up to the last line feed, or up to the last whole character of a longer line. */
    private static int wholeLines(byte[] bytes, int length) {
        for (int end = length; end > 0; end--) {
            if (bytes[end - 1] == '\n') {
                return end;
            }
        }
        int end = length;
        while (end > 0 && end > length - 4 && (bytes[end - 1] & 0xc0) == 0x80) {
            end--; // the rest of a character
        }
        return end > 0 && (bytes[end - 1] & 0xc0) == 0xc0 ? end - 1 : length;
    }

    /** Deletes the temporary folder. */
    void close() throws IOException {
        Path present;
        synchronized (this) {
            present = given == null ? folder : null;
        }
        if (present != null) {
            keepOnly(Map.of());
            Files.deleteIfExists(present);
        }
    }
}
