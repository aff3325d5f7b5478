// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jgroups.Address;
import org.jgroups.View;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The checkpoints that a leader has made for members that are behind its log. A member fetches one piece by piece; a piece is read when it is
 * asked for, so memory does not depend on the size. A checkpoint is removed when the member has it, when it has not asked for some time, or
 * when the leadership ends.
 *
 * <p>Used by the group's thread, but for {@link #pinned} and {@link #isInVain}.
 */
final class CheckpointSource {

    private static final Logger LOG = LoggerFactory.getLogger(CheckpointSource.class);

    /** Longer than a member needs to read all of a checkpoint, when it has fetched that; it asks for nothing meanwhile. */
    private static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(10);

    private static final long OFFER_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The checkpoints for a member before it gets entries in their place, if the log has all of them. */
    private static final int MAXIMUM_CHECKPOINTS = 3;

    private final String group;
    private final StateFolder folder;
    private final ReplicatedState state;
    private final RocksRaftLog log;
    private final GroupLink link;
    private final SecureRandom random = new SecureRandom();
    private final Map<Address, Copy> copies = new HashMap<>();
    private final Map<Address, Integer> begun = new HashMap<>();
    private final Set<Address> inVain = ConcurrentHashMap.newKeySet();
    private long retryNanos = System.nanoTime() - OFFER_NANOS;
    private long sent;

    CheckpointSource(String group, StateFolder folder, ReplicatedState state, RocksRaftLog log, GroupLink link) {
        this.group = group;
        this.folder = folder;
        this.state = state;
        this.log = log;
        this.link = link;
    }

    private static final class Copy {

        private final Path directory;
        private final GroupMessage.Offer offer;
        private long usedNanos;
        private long offeredNanos;

        Copy(Path directory, GroupMessage.Offer offer, long now) {
            this.directory = directory;
            this.offer = offer;
            usedNanos = now;
            offeredNanos = now;
        }
    }

    /** A member needs entries that the log does not have any more, or too many of them. Called again and again, until it has others. */
    void needed(Address member, long now) {
        Copy copy = copies.get(member);
        if (copy == null) {
            if (now - retryNanos >= 0) {
                begin(member, now);
            }
        } else if (now - copy.usedNanos >= OFFER_NANOS && now - copy.offeredNanos >= OFFER_NANOS) {
            copy.offeredNanos = now;
            link.send(member, copy.offer);
        }
    }

    private void begin(Address member, long now) {
        if (begun.merge(member, 1, Integer::sum) > MAXIMUM_CHECKPOINTS && inVain.add(member)) {
            LOG.warn(
                    "{} checkpoints of the group {} did not bring {} up to date; it gets all entries, as far as the log has them",
                    MAXIMUM_CHECKPOINTS,
                    group,
                    GroupMembers.nameOf(member));
        }
        create(member, now);
    }

    /** Whether checkpoints were of no use for a member, so that it gets entries if the log has them. Thread-safe. */
    boolean isInVain(Address member) {
        return inVain.contains(member);
    }

    private void create(Address member, long now) {
        long id = random.nextLong();
        Path directory = folder.outgoing().resolve(Long.toHexString(id));
        try {
            Files.createDirectories(folder.outgoing());
            long index = state.checkpoint(directory);
            Long term = log.termOf(index);
            if (term == null) {
                throw new IOException("the log does not have entry " + index + ", with which the checkpoint ends");
            }
            GroupMessage.Offer offer = new GroupMessage.Offer(id, log.group(), index, term, parts(directory));
            copies.put(member, new Copy(directory, offer, now));
            LOG.info(
                    "{} is behind the log of the group {}, and gets a checkpoint: {} bytes up to entry {}",
                    GroupMembers.nameOf(member),
                    group,
                    CheckpointPart.sum(offer.parts()),
                    index);
            link.send(member, offer);
        } catch (Exception e) { // declared by the state
            LOG.warn("a checkpoint of the group {} cannot be made: {}", group, e.toString());
            remove(directory);
            retryNanos = now + TimeUnit.SECONDS.toNanos(5);
        }
    }

    private static List<CheckpointPart> parts(Path directory) throws IOException {
        List<CheckpointPart> parts = new ArrayList<>();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                parts.add(
                        new CheckpointPart(directory.relativize(file).toString().replace('\\', '/'), Files.size(file)));
            }
        }
        return parts;
    }

    /** Sends a piece of a checkpoint, or the end if there is no such checkpoint. */
    void fetch(Address member, GroupMessage.Fetch fetch, long now) {
        Copy copy = copies.get(member);
        if (copy == null || copy.offer.id() != fetch.id()) {
            link.send(member, new GroupMessage.End(fetch.id()));
            return;
        }
        copy.usedNanos = now;
        try {
            byte[] bytes = read(copy, fetch.position());
            if (bytes != null) {
                sent += bytes.length;
                link.send(member, GroupMessage.Chunk.of(fetch.id(), fetch.position(), bytes));
            }
        } catch (IOException e) {
            LOG.warn("a checkpoint of the group {} cannot be read: {}", group, e.toString());
            copies.remove(member);
            remove(copy.directory);
            link.send(member, new GroupMessage.End(fetch.id()));
        }
    }

    /** The bytes at a position, of one file; null if the position is behind the last file. */
    private static byte @Nullable [] read(Copy copy, long position) throws IOException {
        long begin = 0;
        for (CheckpointPart part : copy.offer.parts()) {
            if (position >= begin && position < begin + part.bytes()) {
                int length = (int) Math.min(GroupMessage.CHUNK_BYTES, begin + part.bytes() - position);
                ByteBuffer bytes = ByteBuffer.allocate(length);
                try (FileChannel file =
                        FileChannel.open(copy.directory.resolve(part.name()), StandardOpenOption.READ)) {
                    while (bytes.hasRemaining()) {
                        if (file.read(bytes, position - begin + bytes.position()) < 0) {
                            throw new IOException(part.name() + " has become shorter");
                        }
                    }
                }
                return bytes.array();
            }
            begin += part.bytes();
        }
        return null;
    }

    /** The member has what it needs. */
    void ended(Address member, GroupMessage.End end) {
        Copy copy = copies.get(member);
        if (copy != null && copy.offer.id() == end.id()) {
            copies.remove(member);
            remove(copy.directory);
        }
    }

    /** Removes the checkpoints of members that are away, and those that no member has asked for in some time. */
    void tick(View present, long now) {
        begun.keySet().removeIf(member -> !present.containsMember(member));
        inVain.removeIf(member -> !present.containsMember(member));
        copies.entrySet().removeIf(entry -> {
            Copy copy = entry.getValue();
            boolean isOver = !present.containsMember(entry.getKey()) || now - copy.usedNanos > IDLE_NANOS;
            if (isOver) {
                remove(copy.directory);
            }
            return isOver;
        });
    }

    /** Removes all. */
    void clear() {
        copies.values().forEach(copy -> remove(copy.directory));
        copies.clear();
        begun.clear();
        inVain.clear();
    }

    /** The first entry that a member will need when it has its checkpoint; the log keeps it. */
    long pinned() {
        return copies.values().stream()
                .mapToLong(copy -> copy.offer.index())
                .min()
                .orElse(Long.MAX_VALUE);
    }

    /** The bytes of checkpoints that were sent since the start. */
    long sentBytes() {
        return sent;
    }

    private void remove(Path directory) {
        try {
            StateFolder.delete(directory);
        } catch (IOException e) {
            LOG.warn("a checkpoint in {} cannot be removed: {}", directory, e.toString());
        }
    }
}
