// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * How many MiB a broker has in use, in a file of its data directory: the start script chooses the collector by it, before there is a Java
 * to ask.
 *
 * @param file the file, which need not exist
 */
record HeapRecord(Path file) {

    /** The name of the file, which bin/smqtt knows too. */
    private static final String NAME = "live-heap";

    /** Longer content is not ours. */
    private static final int DIGITS = 9;

    /** {@return the record of a data directory} */
    static HeapRecord in(Path directory) {
        return new HeapRecord(directory.resolve(NAME));
    }

    /**
     * Reads what an earlier run has left.
     *
     * @return MiB, or 0 if there is no such file or it has no number
     * @throws IOException if the file cannot be read
     */
    long read() throws IOException {
        String text;
        try {
            text = Files.readString(file).strip();
        } catch (NoSuchFileException e) {
            return 0;
        }
        return text.matches("[0-9]{1," + DIGITS + "}") ? Long.parseLong(text) : 0;
    }

    /**
     * Replaces the content at once, so that nobody reads half of it. As everything in the directory it is the owner's alone.
     *
     * @param mebibytes MiB
     * @throws IOException if the file cannot be written; the former content stays
     */
    void write(long mebibytes) throws IOException {
        Path begun = Files.createTempFile(file.getParent(), NAME, ".new");
        try {
            Files.writeString(begun, mebibytes + "\n");
            Files.move(begun, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(begun);
        }
    }
}
