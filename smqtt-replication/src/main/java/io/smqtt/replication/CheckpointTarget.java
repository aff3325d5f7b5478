// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.MalformedBytesException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import org.jgroups.Address;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives a checkpoint of the leader, one piece after the other. A piece whose checksum differs is fetched again; what was received is used
 * only when all of it was read and found whole. A lost piece is asked for again, so a transfer continues where it was when a connection comes back. Another
 * leader has another checkpoint, which begins anew.
 *
 * <p>Used by the group's thread.
 */
final class CheckpointTarget {

    private static final Logger LOG = LoggerFactory.getLogger(CheckpointTarget.class);
    private static final long REPEAT_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final int MAXIMUM_DAMAGED = 3;

    private final String group;
    private final StateFolder folder;
    private final ReplicatedState state;
    private final GroupLink link;
    private final Installer installer;
    private @Nullable Transfer transfer;
    private long pausedUntilNanos = System.nanoTime() - REPEAT_NANOS;
    private long received;
    private long refused;

    CheckpointTarget(String group, StateFolder folder, ReplicatedState state, GroupLink link, Installer installer) {
        this.group = group;
        this.folder = folder;
        this.state = state;
        this.link = link;
        this.installer = installer;
    }

    private static final class Transfer {

        private final Address source;
        private final GroupMessage.Offer offer;
        private final long bytes;
        private int part;
        private long partBegin;
        private long position;
        private long movedNanos;
        private int damaged;
        private boolean isComplete;

        Transfer(Address source, GroupMessage.Offer offer, long now) {
            this.source = source;
            this.offer = offer;
            bytes = CheckpointPart.sum(offer.parts());
            movedNanos = now;
        }

        CheckpointPart current() {
            return offer.parts().get(part);
        }
    }

    /**
     * The leader offers a checkpoint.
     *
     * @param last the last entry in the log of this member
     */
    void offered(Address leader, GroupMessage.Offer offer, long last, long now) {
        Transfer open = transfer;
        if (open != null && open.source.equals(leader) && open.offer.id() == offer.id()) {
            return; // continues
        }
        if (offer.index() <= last) {
            link.send(leader, new GroupMessage.End(offer.id()));
            return;
        }
        if (now - pausedUntilNanos < 0 || open != null && open.isComplete) {
            return;
        }
        try {
            Transfer begun = new Transfer(leader, offer, now);
            create(begun);
            transfer = begun;
            LOG.info(
                    "this node is behind the log of the group {}, and receives a checkpoint: {} bytes up to entry {}",
                    group,
                    begun.bytes,
                    offer.index());
            skipWhole(begun);
            next(begun);
        } catch (IOException | MalformedBytesException e) {
            stop("cannot be received: " + e, now);
        }
    }

    private void create(Transfer begun) throws IOException {
        StateFolder.delete(folder.incoming());
        Files.createDirectories(folder.incoming());
        long free = Files.getFileStore(folder.incoming()).getUsableSpace();
        if (free < begun.bytes) {
            throw new IOException("it has " + begun.bytes + " bytes, the disk has room for " + free);
        }
        for (CheckpointPart each : begun.offer.parts()) {
            Path file = folder.incoming().resolve(each.name());
            Files.createDirectories(file.getParent());
            Files.createFile(file);
        }
    }

    private static void skipWhole(Transfer open) {
        while (open.part < open.offer.parts().size()
                && open.position == open.partBegin + open.current().bytes()) {
            open.partBegin = open.position;
            open.part++;
        }
    }

    private void next(Transfer open) throws IOException {
        if (open.position < open.bytes) {
            link.send(open.source, new GroupMessage.Fetch(open.offer.id(), open.position));
            return;
        }
        open.isComplete = true;
        StateFolder.syncAll(folder.incoming());
        long index;
        try {
            index = state.verify(folder.incoming());
        } catch (Exception e) { // declared by the state
            throw new IOException("it is damaged: " + e.getMessage(), e);
        }
        if (index != open.offer.index()) {
            throw new IOException("it ends with entry " + index + ", not " + open.offer.index());
        }
        installer.install(open.offer.index(), open.offer.term());
    }

    /** A piece has come. */
    void received(Address from, GroupMessage.Chunk chunk, long now) {
        Transfer open = transfer;
        if (open == null
                || open.isComplete
                || !open.source.equals(from)
                || open.offer.id() != chunk.id()
                || open.position != chunk.position()) {
            return;
        }
        try {
            long room = open.partBegin + open.current().bytes() - open.position;
            if (!chunk.isWhole() || chunk.bytes().length == 0 || chunk.bytes().length > room) {
                refused++;
                open.damaged++;
                if (open.damaged > MAXIMUM_DAMAGED) {
                    throw new IOException("its pieces are damaged again and again");
                }
            } else {
                write(open, chunk.bytes());
                open.damaged = 0;
                open.movedNanos = now;
            }
            next(open);
        } catch (IOException e) {
            stop("cannot be used: " + e.getMessage(), now);
        }
    }

    private void write(Transfer open, byte[] bytes) throws IOException {
        Path file = folder.incoming().resolve(open.current().name());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            ByteBuffer rest = ByteBuffer.wrap(bytes);
            long at = open.position - open.partBegin;
            while (rest.hasRemaining()) {
                at += channel.write(rest, at);
            }
        }
        open.position += bytes.length;
        received += bytes.length;
        skipWhole(open);
    }

    /** The leader does not have the checkpoint any more. */
    void ended(Address from, GroupMessage.End end, long now) {
        Transfer open = transfer;
        if (open != null && !open.isComplete && open.source.equals(from) && open.offer.id() == end.id()) {
            stop("has ended before it was complete", now);
            pausedUntilNanos = now;
        }
    }

    /** The checkpoint is the state of this member now, or is not needed. */
    void installed() {
        Transfer open = transfer;
        transfer = null;
        if (open != null) {
            link.send(open.source, new GroupMessage.End(open.offer.id()));
        }
        deleteIncoming();
    }

    /**
     * Asks again for a piece that has not come, and gives up when the leader is another one.
     *
     * @param leader the leader that this member follows, or null
     */
    void tick(@Nullable Address leader, long now) {
        Transfer open = transfer;
        if (open == null || open.isComplete || now - open.movedNanos < REPEAT_NANOS) {
            return;
        }
        if (leader != null && !leader.equals(open.source)) {
            stop("has ended with the leadership of its source", now);
            pausedUntilNanos = now;
            return;
        }
        open.movedNanos = now;
        link.send(open.source, new GroupMessage.Fetch(open.offer.id(), open.position));
    }

    private void stop(String why, long now) {
        Transfer open = transfer;
        transfer = null;
        pausedUntilNanos = now + PAUSE_NANOS;
        LOG.warn("the checkpoint of the group {} {}", group, why);
        if (open != null) {
            link.send(open.source, new GroupMessage.End(open.offer.id()));
        }
        deleteIncoming();
    }

    private void deleteIncoming() {
        try {
            StateFolder.delete(folder.incoming());
        } catch (IOException e) {
            LOG.warn("{} cannot be removed: {}", folder.incoming(), e.toString());
        }
    }

    /** The bytes of checkpoints that were received since the start. */
    long receivedBytes() {
        return received;
    }

    /** The pieces that were refused since the start, because they were damaged. */
    long refusedChunks() {
        return refused;
    }

    /** Makes a checkpoint that was verified the state of this member. */
    interface Installer {

        /**
         * Begins it; {@link CheckpointTarget#installed} is called afterwards.
         *
         * @param index the last entry of the checkpoint
         * @param term its term
         */
        void install(long index, long term);
    }
}
