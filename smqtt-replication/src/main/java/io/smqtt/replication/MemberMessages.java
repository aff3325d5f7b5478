// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.MalformedBytesException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jgroups.Address;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The messages of the other members of a group that are not those of the engine. Used by the group's thread, but for {@link #admits} and the
 * figures.
 */
final class MemberMessages {

    private static final Logger LOG = LoggerFactory.getLogger(MemberMessages.class);
    private static final int MAXIMUM_WAITING = 256;

    private final RocksRaftLog log;
    private final Receiver receiver;
    private final Founding founding;
    private final CheckpointSource source;
    private final CheckpointTarget target;
    private final AtomicInteger waiting = new AtomicInteger();
    private volatile GroupLink link = (member, message) -> {};
    private volatile long sentBytes;
    private volatile long receivedBytes;
    private volatile long refused;
    private long malformed;

    MemberMessages(
            GroupSettings settings, StateFolder folder, ReplicatedState state, RocksRaftLog log, Receiver receiver) {
        this.log = log;
        this.receiver = receiver;
        founding = new Founding(settings, log, this::send);
        source = new CheckpointSource(settings.name(), folder, state, log, this::send);
        target = new CheckpointTarget(settings.name(), folder, state, this::send, receiver::install);
    }

    /** Sets the way to the other members. */
    void linkedBy(GroupLink way) {
        link = way;
    }

    void send(Address member, GroupMessage message) {
        link.send(member, message);
    }

    Founding founding() {
        return founding;
    }

    CheckpointSource source() {
        return source;
    }

    CheckpointTarget target() {
        return target;
    }

    /** Whether one more message may wait for {@link #handle}; others are dropped, and sent again by their sender. */
    boolean admits() {
        if (waiting.incrementAndGet() > MAXIMUM_WAITING) {
            waiting.decrementAndGet();
            return false;
        }
        return true;
    }

    /** Handles a message that was admitted. */
    void handle(Address from, String name, byte[] bytes) {
        waiting.decrementAndGet();
        try {
            handle(from, name, GroupMessage.decode(bytes), System.nanoTime());
        } catch (MalformedBytesException e) {
            malformed++;
            LOG.debug("a message of {} cannot be decoded: {}", name, e.getMessage());
        }
        sentBytes = source.sentBytes();
        receivedBytes = target.receivedBytes();
        refused = target.refusedChunks() + malformed;
    }

    private void handle(Address from, String name, GroupMessage message, long now) {
        if (message instanceof GroupMessage.FoundingQuestion question) {
            send(from, founding.answer(question));
        } else if (message instanceof GroupMessage.FoundingAnswer answer) {
            founding.answered(name, answer);
        } else if (message instanceof GroupMessage.Offer offer) {
            if (receiver.follows(from) && isOwn(offer)) {
                target.offered(from, offer, log.lastAppended(), now);
            }
        } else if (message instanceof GroupMessage.Fetch fetch) {
            source.fetch(from, fetch, now);
        } else if (message instanceof GroupMessage.Chunk chunk) {
            target.received(from, chunk, now);
        } else if (message instanceof GroupMessage.End end) {
            source.ended(from, end);
            target.ended(from, end, now);
            receiver.handedOver();
        } else if (message instanceof GroupMessage.Claim claim) {
            receiver.claimed(from, claim.term());
        } else if (message instanceof GroupMessage.Logs logs) {
            log.know(logs.known());
            send(from, new GroupMessage.LogsKnown(log.known()));
        } else if (message instanceof GroupMessage.LogsKnown answer) {
            receiver.knows(from, answer.known());
        }
    }

    /** Whether a checkpoint is of this group, not of one of another cluster. A new log takes that of the leader which will admit it. */
    private boolean isOwn(GroupMessage.Offer offer) {
        return log.group() == 0 || log.group() == offer.group();
    }

    /** The bytes of checkpoints that were sent since the start. */
    long sentBytes() {
        return sentBytes;
    }

    /** The bytes of checkpoints that were received since the start. */
    long receivedBytes() {
        return receivedBytes;
    }

    /** The messages that were refused since the start, because they were damaged. */
    long refused() {
        return refused;
    }

    /** The member that messages are for. */
    interface Receiver {

        /** The home asks for the leadership of a term. */
        void claimed(Address from, long term);

        /** A member has got a checkpoint, or has stopped to fetch one. */
        void handedOver();

        /** A member has the logs of all members on stable storage. */
        void knows(Address member, KnownLogs logs);

        /** Whether this member follows a leader, and may get a checkpoint of it. */
        boolean follows(Address leader);

        /** Replaces the state by the checkpoint that was received and verified. */
        void install(long index, long term);
    }
}
