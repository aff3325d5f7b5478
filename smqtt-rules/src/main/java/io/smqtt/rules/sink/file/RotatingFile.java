// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.file;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * A file of lines that is renamed when it is full: {@code name.1} is the latest of the former ones, the oldest is removed. Whole lines only: what a
 * failed write or a crash has left of a line is cut off. Blocks; one thread at a time.
 */
public final class RotatingFile implements AutoCloseable {

    private static final int CHUNK = 65_536;
    private static final String GZ = ".gz";

    private final Path file;
    private final Path full; // while it is compressed
    private final Path compressed; // until it has its place
    private final long maxBytes;
    private final int former;
    private final boolean gzip;
    private final boolean sync;
    private @Nullable FileChannel channel;
    private long size;

    /**
     * Creates a file, which is opened by the first write.
     *
     * @param file its path; the folder is created
     * @param maxBytes the size at which it is renamed
     * @param former how many former files are kept, at least 0
     * @param gzip whether they are compressed
     * @param sync whether a write waits until the lines are on stable storage
     */
    public RotatingFile(Path file, long maxBytes, int former, boolean gzip, boolean sync) {
        this.file = file.toAbsolutePath();
        this.full = beside(".full");
        this.compressed = beside(".full.gz");
        this.maxBytes = maxBytes;
        this.former = former;
        this.gzip = gzip;
        this.sync = sync;
    }

    /**
     * Appends lines, all or none of them.
     *
     * @param lines the bytes, with a line feed at the end of each line
     * @throws IOException if they could not be written; the file is as before
     */
    public synchronized void append(byte[] lines) throws IOException {
        FileChannel open = open();
        if (size > 0 && size + lines.length > maxBytes) {
            rotate();
            open = open();
        }
        try {
            ByteBuffer rest = ByteBuffer.wrap(lines);
            while (rest.hasRemaining()) {
                open.write(rest);
            }
            if (sync) {
                open.force(false);
            }
            size += lines.length;
        } catch (IOException e) {
            undo(open);
            throw e;
        }
    }

    private void undo(FileChannel open) {
        try {
            open.truncate(size);
        } catch (IOException e) {
            close(); // the next write opens it again, and cuts off the rest of the line
        }
    }

    /**
     * Tells whether the file can be written. Neither makes nor changes anything: another one may write there.
     *
     * @throws IOException if it cannot
     */
    public void check() throws IOException {
        Path there = file;
        for (Path parent = file.getParent(); !Files.exists(there) && parent != null; parent = parent.getParent()) {
            there = parent;
        }
        if (Files.isDirectory(there) == there.equals(file)) {
            throw new FileSystemException(
                    there.toString(), null, there.equals(file) ? "is a folder" : "is not a folder");
        }
        if (!Files.isWritable(there)) {
            throw new AccessDeniedException(there.toString());
        }
    }

    private FileChannel open() throws IOException {
        FileChannel present = channel;
        if (present != null && Files.exists(file)) {
            return present;
        }
        close(); // another program has moved the file
        Path folder = file.getParent();
        if (folder != null) {
            Files.createDirectories(folder);
        }
        continueRotation(); // of a former process
        FileChannel opened =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        try {
            size = endOfLines(opened);
            opened.truncate(size);
            opened.position(size);
        } catch (IOException e) {
            opened.close();
            throw e;
        }
        channel = opened;
        return opened;
    }

    /** The length up to the last line feed. */
    private static long endOfLines(FileChannel opened) throws IOException {
        long end = opened.size();
        ByteBuffer chunk = ByteBuffer.allocate(CHUNK);
        while (end > 0) {
            long start = Math.max(0, end - CHUNK);
            chunk.clear().limit((int) (end - start));
            int read = 0;
            while (read >= 0 && chunk.hasRemaining()) {
                read = opened.read(chunk, start + chunk.position());
            }
            for (int i = chunk.position() - 1; i >= 0; i--) {
                if (chunk.get(i) == '\n') {
                    return start + i + 1;
                }
            }
            end = start;
        }
        return 0;
    }

    /** Renames the file and those before it. After a failure or a crash at any point it is continued, and loses no former file. */
    private void rotate() throws IOException {
        close();
        if (former == 0) {
            Files.deleteIfExists(file);
        } else if (gzip) {
            Files.move(file, full);
            continueRotation();
        } else {
            shift(file, "");
        }
    }

    /**
     * Compresses a full file, and gives it its place. It has another name at each step, so that none is done twice. What a process has left that compressed
     * gets its place also when files are no longer compressed.
     */
    private void continueRotation() throws IOException {
        if (former == 0) {
            return;
        }
        if (!Files.exists(compressed)) {
            if (!Files.exists(full)) {
                return;
            }
            if (!gzip) {
                shift(full, "");
                return;
            }
            compress();
        }
        Files.deleteIfExists(full);
        shift(compressed, GZ);
    }

    private void shift(Path next, String end) throws IOException {
        int free = 1;
        while (free < former && Files.exists(numbered(free, end))) {
            free++;
        }
        for (int i = free - 1; i >= 1; i--) { // the last place is free, or has the oldest file
            Files.move(numbered(i, end), numbered(i + 1, end), StandardCopyOption.REPLACE_EXISTING);
        }
        Files.move(next, numbered(1, end), StandardCopyOption.REPLACE_EXISTING);
    }

    private void compress() throws IOException {
        Path partly = beside(".gz.tmp");
        try (InputStream in = Files.newInputStream(full);
                FileChannel target = FileChannel.open(
                        partly,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.TRUNCATE_EXISTING,
                        StandardOpenOption.WRITE)) {
            GZIPOutputStream out = new GZIPOutputStream(Channels.newOutputStream(target), CHUNK);
            in.transferTo(out);
            out.finish();
            if (sync) {
                target.force(true);
            }
        } catch (IOException e) {
            try {
                Files.deleteIfExists(partly);
            } catch (IOException second) {
                e.addSuppressed(second);
            }
            throw e;
        }
        Files.move(partly, compressed, StandardCopyOption.ATOMIC_MOVE);
    }

    private Path beside(String end) {
        return file.resolveSibling(file.getFileName() + end);
    }

    private Path numbered(int number, String end) {
        return beside("." + number + end);
    }

    /** Closes the file. A later write opens it again. */
    @Override
    public synchronized void close() {
        FileChannel open = channel;
        channel = null;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                return; // what was acknowledged has been written
            }
        }
    }
}
