// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.session.SessionState;
import io.smqtt.spi.StoredMessage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A frame between nodes. Each frame also carries who says it: see {@link FrameCodec}. */
sealed interface Frame {

    /** The version of the frames that this build writes. */
    int VERSION = 1;

    /** A feature: the node has joined, and clients use it. */
    long JOINED = 1;

    /** No sequence is known: everything is asked for. */
    long NOTHING = -1;

    /**
     * Introduces a node. The answer to one that wants it is another.
     *
     * @param minVersion the oldest version of frames that the node reads
     * @param maxVersion the newest one
     * @param features {@link #JOINED}; the other bits are reserved
     * @param software the program's version, for people
     * @param reply whether an answer is wanted
     * @param weight how many clients the node is to get in proportion to others
     * @param address where it is reached, for people
     */
    record Hello(
            int minVersion, int maxVersion, long features, String software, boolean reply, int weight, String address)
            implements Frame {}

    /**
     * Changes of the sender's routes.
     *
     * @param firstSequence the number of the first change; the others follow
     * @param rows the changes
     */
    record Delta(long firstSequence, List<RouteRow> rows) implements Frame {}

    /**
     * A digest of all routes of the sender.
     *
     * @param sequence the number of the last change
     * @param count rows
     * @param hash all rows, in any order
     */
    record Digest(long sequence, int count, long hash) implements Frame {}

    /**
     * Asks for the receiver's routes.
     *
     * @param ofEpoch the run of the receiver that they are wanted of
     * @param haveSequence the last change that the sender has, or {@link #NOTHING}
     */
    record Pull(long ofEpoch, long haveSequence) implements Frame {}

    /**
     * Asks for more parts of a snapshot: the receiver sends only so many beyond the one that is asked for.
     *
     * @param ofEpoch the run of the receiver that the snapshot is of
     * @param haveSequence the last change that the sender has, or {@link #NOTHING}; counts if there is no such snapshot any more
     * @param number the number of the snapshot
     * @param part the first part that the sender does not have; as many as there are if it has all
     * @param again whether it has waited for that part, and those after it, for too long
     */
    record More(long ofEpoch, long haveSequence, long number, int part, boolean again) implements Frame {}

    /**
     * A part of all routes of the sender, as they were after one change.
     *
     * @param number counts the snapshots of the sender: parts of different ones do not belong together, not even if they are of
     *     the same moment
     * @param sequence the number of that change
     * @param index the number of the part, from 0
     * @param parts how many there are
     * @param rows the routes of this part
     */
    record Snapshot(long number, long sequence, int index, int parts, List<RouteRow> rows) implements Frame {}

    /**
     * Tells a node that its epoch is not newer than one that it had before.
     *
     * @param knownEpoch the newest one
     */
    record Stale(long knownEpoch) implements Frame {}

    /**
     * Tells a node that another process with its node-id is there, and that it is not listened to while this is so.
     *
     * @param epoch the run of that process
     * @param address where that one is reached, for people
     */
    record Taken(long epoch, String address) implements Frame {}

    /**
     * Messages of the sender's publishers for subscribers of the receiver.
     *
     * @param toEpoch the run of the receiver that they are for; another one throws them away
     * @param stream the number of the sender's attempt to talk to the receiver; each begins with sequence 1
     * @param base the oldest sequence that the sender still keeps
     * @param firstSequence the number of the first message; the others follow
     * @param messages the messages, at least one
     */
    record PublishBatch(long toEpoch, int stream, long base, long firstSequence, List<ForwardedMessage> messages)
            implements Frame {}

    /**
     * A {@link PublishBatch} before it is written.
     *
     * @param toEpoch the run of the receiver that they are for
     * @param stream the number of the sender's attempt to talk to the receiver
     * @param base the oldest sequence that the sender still keeps
     * @param firstSequence the number of the first message; the others follow
     * @param count how many messages there are
     * @param parts the messages
     */
    record OutboundBatch(long toEpoch, int stream, long base, long firstSequence, int count, List<Outbound> parts)
            implements Frame {}

    /**
     * Tells what became of forwarded messages.
     *
     * @param ofEpoch the run of the receiver that the stream is of
     * @param stream the stream
     * @param received all messages up to this one have arrived
     * @param upTo all messages up to this one have been taken over, or are refused
     * @param refusals which ones not, or not for all; told again until the sender's base has passed them
     */
    record PublishAck(long ofEpoch, int stream, long received, long upTo, List<Refusal> refusals) implements Frame {}

    /**
     * Retained messages as some node has them, or that their topics have none.
     *
     * @param rows one for each topic
     */
    record RetainedUpdate(List<RetainedRow> rows) implements Frame {}

    /**
     * A digest of the sender's retained messages.
     *
     * @param hashes one for each part of the topics
     */
    record RetainedDigest(long[] hashes) implements Frame {}

    /**
     * All versions in one part of the topics.
     *
     * @param part the number of the part
     * @param topics each with its version in the other list
     * @param versions as many
     */
    record RetainedVersions(int part, List<String> topics, List<RetainedVersion> versions) implements Frame {}

    /**
     * Asks for retained messages.
     *
     * @param topics of which topics
     */
    record RetainedPull(List<String> topics) implements Frame {}

    /**
     * All that is newer here than in {@link RetainedVersions} has been sent.
     *
     * @param part the number of the part
     * @param missing how many newer messages of it the sender knows of and does not have itself
     */
    record RetainedCompared(int part, int missing) implements Frame {}

    /**
     * Names shared groups that can stand in for absent members.
     *
     * @param wants whether members of them are there on the sender, and what waits for absent ones on the receiver may come; or else whether
     *     messages of them wait on the sender
     * @param groups the groups, each as a client writes it
     */
    record GroupCall(boolean wants, List<String> groups) implements Frame {}

    /** A frame about client identifiers and their sessions; see {@link ClientCodec}. */
    sealed interface Client extends Frame {}

    /**
     * A client of the sender wants its session: asks the receiver to see to it that no other node has it.
     *
     * @param number counts the claims of the sender
     * @param clientId the client identifier
     * @param cleanStart whether an existing session is discarded
     * @param userName the client's user, or null
     * @param clock when the sender claimed the session that it has itself, or {@link #NOTHING}
     */
    record Claim(
            long number,
            String clientId,
            boolean cleanStart,
            @Nullable String userName,
            long clock) implements Client {}

    /**
     * Asks a node to give up a client identifier.
     *
     * @param claim whose claim it is for
     * @param discard whether the session ends, instead of being sent to the claimant
     * @param userName the claimant's user, or null
     * @param clock when the claim was made; a session that was claimed later stays
     * @param claimantClock when the claimant claimed the session that it has itself, or {@link #NOTHING}
     */
    record Release(
            ClaimKey claim, boolean discard, @Nullable String userName, long clock, long claimantClock)
            implements Client {}

    /**
     * The answer to a release.
     *
     * @param claim the claim
     * @param outcome what became of it
     * @param clock when the sender claimed the session that it keeps, or 0
     */
    record Released(ClaimKey claim, Outcome outcome, long clock) implements Client {}

    /** The result of a claim on one node. */
    enum Outcome {
        /** The node has no session of the client any more. */
        FREE,
        /** The session belongs to another user. */
        REFUSED,
        /** The session was claimed later. */
        NEWER,
        /** Not now. */
        BUSY
    }

    /**
     * A claim was decided.
     *
     * @param number the claim of the receiver
     * @param clientId the client identifier
     * @param granted false if the session belongs to another user
     * @param clock when it was claimed, from now on
     */
    record Granted(long number, String clientId, boolean granted, long clock) implements Client {}

    /**
     * A claim has come to its end: the next one may have its turn.
     *
     * @param number the claim of the sender
     * @param clientId the client identifier
     */
    record Settled(long number, String clientId) implements Client {}

    /**
     * A part of a session that moves to the receiver; the next one follows when this was taken.
     *
     * @param number the claim of the receiver
     * @param attempt counts the moves that the sender has begun: parts of different ones do not belong together
     * @param toEpoch the run of the receiver that made it
     * @param index the number of the part, from 0
     * @param kind what it is
     * @param state what the session is; in the first part only
     * @param messages messages, maybe none
     */
    record SessionPart(
            long number,
            long attempt,
            long toEpoch,
            int index,
            PartKind kind,
            @Nullable SessionState state,
            List<StoredMessage> messages)
            implements Client {}

    /** The purpose of a part of a session. */
    enum PartKind {
        /** The session without its messages. */
        STATE,
        /** Messages that it had. */
        MESSAGES,
        /** All is there. */
        INSTALL,
        /** Messages that came meanwhile. */
        LATE,
        /** No more come. */
        END
    }

    /**
     * A part was taken.
     *
     * @param number the claim of the sender
     * @param attempt the move that the part is of
     * @param ofEpoch the run of the receiver that sent it
     * @param index the number of the part
     * @param taken false if the session is not wanted, or could not be kept
     */
    record SessionAck(long number, long attempt, long ofEpoch, int index, boolean taken) implements Client {}

    /**
     * Sessions of the sender.
     *
     * @param clientIds client identifiers
     * @param clocks when each was claimed
     */
    record Owned(List<String> clientIds, List<Long> clocks) implements Client {}

    /**
     * Asks to be told when the receiver knows the sender's routes, or when everything that the receiver has routed up to
     * now has arrived at the sender.
     *
     * @param number counts the questions of the sender
     * @param sequence the last change of the sender's routes that matters
     * @param fence whether it is about what was routed, too
     */
    record Sync(long number, long sequence, boolean fence) implements Client {}

    /**
     * The answer to a question.
     *
     * @param number the question of the receiver
     * @param ofEpoch the run of the receiver that asked
     */
    record Synced(long number, long ofEpoch) implements Client {}

    /**
     * The will of a client of the sender, or that it has none any more.
     *
     * @param version counts what the sender has said of wills
     * @param since the version in which it was said of this will first
     * @param clientId the client identifier
     * @param holders who keeps it; the first of them that is there publishes it
     * @param will the will, or null
     */
    record WillCopy(
            long version,
            long since,
            String clientId,
            List<String> holders,
            @Nullable HeldWill will) implements Client {}

    /**
     * A will was kept, or forgotten, or what became of it was heard.
     *
     * @param version the version of the copy, or since when the will was said
     * @param clientId the client identifier
     * @param ofEpoch the run of the receiver that said it, or that had the will
     * @param done whether it answers {@link WillDone}
     */
    record WillAck(long version, String clientId, long ofEpoch, boolean done) implements Client {}

    /**
     * The will of a client of the receiver was published, or is not to be published.
     *
     * @param since the version in which the receiver said of it first
     * @param clientId the client identifier
     * @param ofEpoch the run of the receiver that had it
     */
    record WillDone(long since, String clientId, long ofEpoch) implements Client {}

    /**
     * A will for others.
     *
     * @param userName the client's user, or null
     * @param expirySeconds the session expiry interval
     * @param delaySeconds the will delay interval
     * @param message the message
     */
    record HeldWill(@Nullable String userName, long expirySeconds, long delaySeconds, ForwardedMessage message) {}

    /**
     * A message that was not taken over.
     *
     * @param sequence its number
     * @param group the shared filter that it had no member for; empty if the message could not be kept at all
     */
    record Refusal(long sequence, String group) {}
}
