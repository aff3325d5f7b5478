// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.persistence.StoreUnusableException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.jgroups.protocols.raft.LogEntry;

/**
 * The directory of a group on one member. A checkpoint that another member has sent replaces the state, and with it the log. It is received
 * beside the state, and verified there. From the moment at which its directory is renamed to {@code arrived} it is the state of this member: what
 * is left to do is done again after a crash.
 *
 * <pre>
 * log/       the log ({@link RocksRaftLog})
 * store/     the state
 * outgoing/  checkpoints for other members, removed at the start
 * incoming/  a checkpoint that is not complete, removed at the start
 * arrived/   a checkpoint that is complete, and becomes the state
 * replaced/  the state before it, about to be removed
 * </pre>
 */
final class StateFolder {

    private static final String STATE = "store";
    private static final String MARK = "ARRIVED";
    private static final int MARK_BYTES = 2 * Long.BYTES + Integer.BYTES;

    private final Path directory;
    private final Steps steps;

    StateFolder(Path directory) {
        this(directory, step -> {});
    }

    /**
     * Creates an object for a directory.
     *
     * @param steps called between all steps of a replacement
     */
    StateFolder(Path directory, Steps steps) {
        this.directory = directory;
        this.steps = steps;
    }

    Path log() {
        return directory.resolve("log");
    }

    Path state() {
        return directory.resolve(STATE);
    }

    Path outgoing() {
        return directory.resolve("outgoing");
    }

    Path incoming() {
        return directory.resolve("incoming");
    }

    private Path arrived() {
        return directory.resolve("arrived");
    }

    private Path replaced() {
        return directory.resolve("replaced");
    }

    /**
     * Prepares the directory before the state is opened: completes a replacement that was interrupted, and removes what is left of others.
     *
     * @param log the open log
     */
    void prepare(RocksRaftLog log) {
        try {
            Files.createDirectories(directory);
            delete(incoming());
            delete(outgoing());
            if (Files.exists(arrived())) {
                complete(log);
            }
            delete(replaced());
        } catch (IOException e) {
            throw StoreUnusableException.of(directory, e);
        }
    }

    /**
     * Makes the checkpoint in {@link #incoming} that of this member. It has been verified, and its files are on stable storage. The state must be
     * closed, and is opened again afterwards.
     *
     * @param log the open log; begins with the entry of the checkpoint afterwards
     * @param index the last entry that the checkpoint has
     * @param term its term
     */
    void replace(RocksRaftLog log, long index, long term) throws IOException {
        steps.before("mark");
        mark(incoming().resolve(MARK), index, term);
        SyncMark.syncNameOf(incoming().resolve(MARK));
        steps.before("arrive");
        move(incoming(), arrived());
        complete(log);
        delete(replaced());
    }

    private void complete(RocksRaftLog log) throws IOException {
        Path mark = arrived().resolve(MARK);
        byte[] content = Files.readAllBytes(mark);
        if (content.length != MARK_BYTES
                || checksum(content) != new ByteReader(content, 2 * Long.BYTES, MARK_BYTES).i32()) {
            throw ReplicaDamage.of(
                    directory, "the checksum of its file " + directory.relativize(mark) + " differs", null);
        }
        ByteReader in = new ByteReader(content);
        long index = in.i64();
        long term = in.i64();
        steps.before("log");
        if (log.firstAppended() != index || log.lastAppended() != index) {
            log.reinitializeTo(index, new LogEntry(term, null));
        }
        steps.before("away");
        if (Files.exists(state())) {
            delete(replaced());
            move(state(), replaced());
        }
        steps.before("there");
        move(arrived(), state());
        steps.before("removed");
    }

    private static void mark(Path file, long index, long term) throws IOException {
        byte[] content = new ByteWriter(MARK_BYTES).i64(index).i64(term).i32(0).toByteArray();
        byte[] whole = new ByteWriter(MARK_BYTES)
                .i64(index)
                .i64(term)
                .i32(checksum(content))
                .toByteArray();
        Files.write(file, whole);
        sync(file);
    }

    private static int checksum(byte[] content) {
        CRC32C sum = new CRC32C();
        sum.update(content, 0, 2 * Long.BYTES);
        return (int) sum.getValue();
    }

    private static void move(Path from, Path to) throws IOException {
        Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        SyncMark.syncNameOf(to);
    }

    /** Writes all files below a directory to stable storage, with their names. */
    static void syncAll(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.toList()) {
                sync(file);
            }
        }
    }

    private static void sync(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** Deletes a directory with its content, if it exists. */
    static void delete(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }

    /** The steps of a replacement. */
    interface Steps {

        /** Called before a step. */
        void before(String step);
    }
}
