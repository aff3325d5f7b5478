// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.session.SessionState;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.spi.StoredMessage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A frame between nodes. Each frame also has its sender: see {@link FrameCodec}. */
sealed interface Frame {

    /** The version of the frames that this build writes. */
    int VERSION = 1;

    /** A feature bit: the node has joined, and clients use it. */
    long JOINED = 1;

    /** A feature bit: the node answers questions. */
    long ANSWERS = 2;

    /** The bit of the features of a front node, which keeps no sessions of others. */
    long FRONT = 4;

    /** A feature bit: the node knows {@link Serves} and {@link Served}. */
    long SERVERS = 8;

    /** A feature bit: the node knows {@link RetainedKnown} and {@link RetainedAsk}. */
    long RETAINED = 16;

    /** No sequence is known: everything is requested. */
    long NOTHING = -1;

    /**
     * Introduces a node. The answer, if requested, is another one.
     *
     * @param minVersion the oldest version of frames that the node reads
     * @param maxVersion the newest one
     * @param features {@link #JOINED}, {@link #ANSWERS}, {@link #FRONT}, {@link #SERVERS} and {@link #RETAINED}; the other bits are
     *     reserved
     * @param software the program's version, for display
     * @param reply whether an answer is requested
     * @param weight share of clients for the node, in proportion to others
     * @param address its address, for display
     * @param relay where it takes clients of front nodes; empty if it takes none
     * @param name its name, for display, if it holds the place of a node with another one; otherwise empty
     */
    record Hello(
            int minVersion,
            int maxVersion,
            long features,
            String software,
            boolean reply,
            int weight,
            String address,
            String relay,
            String name)
            implements Frame {

        /** That of a node that has the name of its place. */
        Hello(
                int minVersion,
                int maxVersion,
                long features,
                String software,
                boolean reply,
                int weight,
                String address,
                String relay) {
            this(minVersion, maxVersion, features, software, reply, weight, address, relay, "");
        }
    }

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
     * Requests the receiver's routes.
     *
     * @param ofEpoch the run of the receiver whose routes are requested
     * @param haveSequence the last change that the sender has, or {@link #NOTHING}
     */
    record Pull(long ofEpoch, long haveSequence) implements Frame {}

    /**
     * Requests more parts of a snapshot: the receiver sends a limited number of parts after the requested one.
     *
     * @param ofEpoch the run of the receiver for the snapshot
     * @param haveSequence the last change that the sender has, or {@link #NOTHING}; used if the snapshot no longer exists
     * @param number the number of the snapshot
     * @param part the first missing part; the number of parts if none is missing
     * @param again whether that part and later ones have timed out
     */
    record More(long ofEpoch, long haveSequence, long number, int part, boolean again) implements Frame {}

    /**
     * A part of all routes of the sender, as they were after one change.
     *
     * @param number the number of the snapshot: parts of different snapshots cannot be combined, even if they have the same sequence
     * @param sequence the number of that change
     * @param index the number of the part, from 0
     * @param parts the number of parts
     * @param rows the routes of this part
     */
    record Snapshot(long number, long sequence, int index, int parts, List<RouteRow> rows) implements Frame {}

    /**
     * Notifies a node that its epoch is not newer than an earlier one.
     *
     * @param knownEpoch the newest one
     */
    record Stale(long knownEpoch) implements Frame {}

    /**
     * Notifies a node that another process with its node-id exists, and that its frames are ignored meanwhile.
     *
     * @param epoch the run of that process
     * @param address the address of that process, for display
     */
    record Taken(long epoch, String address) implements Frame {}

    /**
     * Messages of the sender's publishers for subscribers of the receiver.
     *
     * @param toEpoch the run of the receiver for which they are; another run drops them
     * @param stream the number of the stream from the sender to the receiver; each stream begins with sequence 1
     * @param base the oldest sequence that the sender still keeps
     * @param firstSequence the number of the first message; the others follow
     * @param messages the messages, at least one
     * @param parked whether they have waited for the receiver, which takes them at the pace of its clients
     * @param homes the nodes whose sessions alone are to get them, because they were parked for these; if they were not parked, the nodes whose
     *     sessions the receiver serves, and are to get them, too. Otherwise {@link Homes#NONE}
     */
    record PublishBatch(
            long toEpoch,
            int stream,
            long base,
            long firstSequence,
            List<ForwardedMessage> messages,
            boolean parked,
            String homes)
            implements Frame {}

    /**
     * A {@link PublishBatch} before it is written.
     *
     * @param toEpoch the run of the receiver for which they are
     * @param stream the number of the stream from the sender to the receiver
     * @param base the oldest sequence that the sender still keeps
     * @param firstSequence the number of the first message; the others follow
     * @param count the number of messages
     * @param parts the messages
     * @param parked whether they have waited for the receiver
     * @param homes the nodes whose sessions are to get them, see {@link PublishBatch}
     */
    record OutboundBatch(
            long toEpoch,
            int stream,
            long base,
            long firstSequence,
            int count,
            List<Outbound> parts,
            boolean parked,
            String homes)
            implements Frame {}

    /**
     * Acknowledges forwarded messages.
     *
     * @param ofEpoch the run of the receiver that sent the stream
     * @param stream the stream
     * @param received all messages up to this one have arrived
     * @param upTo all messages up to this one have been accepted or refused
     * @param refusals the messages that were refused in whole or in part; repeated until the sender's base has passed them
     */
    record PublishAck(long ofEpoch, int stream, long received, long upTo, List<Refusal> refusals) implements Frame {}

    /**
     * The state of retained messages on a node: the message, or that the topic has none.
     *
     * @param rows one for each topic
     * @param number answered by {@link RetainedKnown}; 0 if no answer is wanted
     */
    record RetainedUpdate(List<RetainedRow> rows, long number) implements Frame {

        /** One without an answer. */
        RetainedUpdate(List<RetainedRow> rows) {
            this(rows, 0);
        }
    }

    /**
     * The sender has all changes of an update, or later ones, where its clients read them.
     *
     * @param ofEpoch the run that has sent the update
     * @param number the number of the update
     */
    record RetainedKnown(long ofEpoch, long number) implements Frame {}

    /**
     * Requests a digest of the retained messages at once.
     *
     * @param number repeated in the digest
     */
    record RetainedAsk(long number) implements Frame {}

    /**
     * A digest of the sender's retained messages.
     *
     * @param hashes one for each topic partition
     * @param answers the number of the {@link RetainedAsk} that it answers; 0 without one
     */
    record RetainedDigest(long[] hashes, long answers) implements Frame {

        /** One without a question. */
        RetainedDigest(long[] hashes) {
            this(hashes, 0);
        }
    }

    /**
     * All versions in one topic partition.
     *
     * @param part the number of the partition
     * @param topics the topics; each has its version in the other list
     * @param versions the versions, in the same order
     */
    record RetainedVersions(int part, List<String> topics, List<RetainedVersion> versions) implements Frame {}

    /**
     * Requests retained messages.
     *
     * @param topics their topics
     */
    record RetainedPull(List<String> topics) implements Frame {}

    /**
     * The end of the answer to {@link RetainedVersions}: all newer messages have been sent.
     *
     * @param part the number of the part
     * @param missing the number of newer messages that the sender knows but does not have
     */
    record RetainedCompared(int part, int missing) implements Frame {}

    /**
     * The clocks of the sender, with each digest.
     *
     * @param wallMillis milliseconds since 1970, by its wall clock
     * @param latest the latest clock of a retained message that it knows, 0 if it knows none: later changes are later on all nodes
     */
    record Clocks(long wallMillis, long latest) implements Frame {}

    /**
     * Announces shared groups with members or with waiting messages.
     *
     * @param wants true if the sender has members that can take messages which wait on the receiver; false if messages of the groups wait
     *     on the sender
     * @param groups the groups, each as a client writes it
     */
    record GroupCall(boolean wants, List<String> groups) implements Frame {}

    /** A question, or an answer; see {@link PeerQuestions}. */
    sealed interface Talk extends Frame {}

    /**
     * Asks the receiver.
     *
     * @param number counts the questions of the sender
     * @param name the name of the question
     * @param bytes the question; not to be changed
     */
    record Question(long number, String name, byte[] bytes) implements Talk {}

    /**
     * A part of an answer. Parts travel in order.
     *
     * @param number the question of the receiver
     * @param ofEpoch the run of the receiver that asked
     * @param index the number of the part, from 0
     * @param parts the number of parts
     * @param bytes the part; not to be changed
     */
    record AnswerPart(long number, long ofEpoch, int index, int parts, byte[] bytes) implements Talk {}

    /** A frame about client identifiers and their sessions; see {@link ClientCodec}. */
    sealed interface Client extends Frame {}

    /**
     * Claims a session for a client of the sender: the receiver ensures that no other node keeps it.
     *
     * @param number counts the claims of the sender
     * @param clientId the client identifier
     * @param purpose what becomes of an existing session
     * @param userName the client's user, or null
     * @param clock the clock of the sender's own session, or {@link #NOTHING}
     * @param guarded whether a session that begins is stored on several nodes: the decision names the nodes that have confirmed it
     */
    record Claim(
            long number,
            String clientId,
            Purpose purpose,
            @Nullable String userName,
            long clock,
            boolean guarded) implements Client {

        Claim(long number, String clientId, Purpose purpose, @Nullable String userName, long clock) {
            this(number, clientId, purpose, userName, clock, false);
        }
    }

    /** The result for an existing session of a claimed client identifier. */
    enum Purpose {
        /** The client has connected: the session is sent to its node. */
        RESUME,
        /** The client has connected with a clean start: the session ends. */
        DISCARD,
        /** The node of the session stops and the client is absent: the session is sent, but a node that does not stop refuses that. */
        INHERIT,
        /** No client identifier but the filter of an exclusive subscription, by {@link FilterClaims}; the user is the client. */
        EXCLUSIVE
    }

    /**
     * Requests that a node releases a client identifier.
     *
     * @param claim the claim
     * @param purpose whether the session ends or is sent to the claimant
     * @param userName the claimant's user, or null
     * @param clock the clock of the claim; a session that was claimed later stays
     * @param claimantClock the clock of the claimant's own session, or {@link #NOTHING}
     * @param guarded as in {@link Claim}
     */
    record Release(
            ClaimKey claim, Purpose purpose, @Nullable String userName, long clock, long claimantClock, boolean guarded)
            implements Client {

        Release(ClaimKey claim, Purpose purpose, @Nullable String userName, long clock, long claimantClock) {
            this(claim, purpose, userName, clock, claimantClock, false);
        }
    }

    /**
     * The answer to a release.
     *
     * @param claim the claim
     * @param outcome the result
     * @param clock the clock of the session that the sender keeps, or 0
     * @param unserved the node in whose store the client has a session, of which the sender has a replica, and which no node serves; otherwise empty
     */
    record Released(ClaimKey claim, Outcome outcome, long clock, String unserved) implements Client {

        Released(ClaimKey claim, Outcome outcome, long clock) {
            this(claim, outcome, clock, "");
        }
    }

    /** The result of a claim on one node. */
    enum Outcome {
        /** The node has no session of the client, or no longer. */
        FREE,
        /** The session belongs to another user. */
        REFUSED,
        /** The session was claimed later. */
        NEWER,
        /** The node cannot answer now. */
        BUSY
    }

    /**
     * A claim was decided.
     *
     * @param number the claim of the receiver
     * @param clientId the client identifier
     * @param granted false if the session belongs to another user
     * @param clock the clock of the claim
     * @param answered the nodes that have released the identifier; empty if the claim did not ask for them
     * @param unserved as in {@link Released}
     */
    record Granted(long number, String clientId, boolean granted, long clock, List<String> answered, String unserved)
            implements Client {

        Granted(long number, String clientId, boolean granted, long clock) {
            this(number, clientId, granted, clock, List.of(), "");
        }
    }

    /**
     * A claim has ended: the next one may start.
     *
     * @param number the claim of the sender
     * @param clientId the client identifier
     */
    record Settled(long number, String clientId) implements Client {}

    /**
     * A part of a session that moves to the receiver; the next one follows after its acknowledgement.
     *
     * @param number the claim of the receiver
     * @param attempt the number of the sender's move: parts of different moves cannot be combined
     * @param toEpoch the run of the receiver that made the claim
     * @param index the number of the part, from 0
     * @param kind the kind of the part
     * @param state the session; in the first part only
     * @param messages the messages; may be empty
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
        /** Messages from before the move. */
        MESSAGES,
        /** Everything from before the move has been sent. */
        INSTALL,
        /** Messages that arrived during the move. */
        LATE,
        /** The end of the move. */
        END
    }

    /**
     * Acknowledges a part.
     *
     * @param number the claim of the sender
     * @param attempt the move of the part
     * @param ofEpoch the run of the receiver that sent it
     * @param index the number of the part
     * @param taken false if the session was refused or could not be stored
     */
    record SessionAck(long number, long attempt, long ofEpoch, int index, boolean taken) implements Client {}

    /**
     * Sessions of the sender.
     *
     * @param clientIds client identifiers
     * @param clocks the clocks of their claims
     */
    record Owned(List<String> clientIds, List<Long> clocks) implements Client {}

    /**
     * Requests an answer when the receiver knows the sender's routes, or when everything that the receiver has routed up to now has
     * arrived at the sender.
     *
     * @param number the number of the sender's request
     * @param sequence the last required change of the sender's routes
     * @param fence whether to wait for routed messages, too
     */
    record Sync(long number, long sequence, boolean fence) implements Client {}

    /**
     * The answer to a request.
     *
     * @param number the request of the receiver
     * @param ofEpoch the requesting run of the receiver
     */
    record Synced(long number, long ofEpoch) implements Client {}

    /**
     * The will of a client of the sender, or its removal.
     *
     * @param version the version of the sender's wills
     * @param since the first version with this will
     * @param clientId the client identifier
     * @param holders the nodes that keep it; the first live one publishes it
     * @param will the will, or null
     */
    record WillCopy(
            long version,
            long since,
            String clientId,
            List<String> holders,
            @Nullable HeldWill will) implements Client {}

    /**
     * Acknowledges a will, its removal, or {@link WillDone}.
     *
     * @param version the version of the copy, or the first version of the will
     * @param clientId the client identifier
     * @param ofEpoch the run of the receiver that sent it, or that had the will
     * @param done whether it answers {@link WillDone}
     */
    record WillAck(long version, String clientId, long ofEpoch, boolean done) implements Client {}

    /**
     * The will of a client of the receiver was published, or must not be published.
     *
     * @param since the first version of the will on the receiver
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
     * Asks a node to take over the session of a client of the sender, which stops.
     *
     * @param clientId the client identifier
     * @param userName the user of its last connection, or null
     * @param will the will that waits for its delay, with the rest of that; null if there is none
     */
    record Inherit(
            String clientId,
            @Nullable String userName,
            @Nullable HeldWill will) implements Client {}

    /**
     * Answers {@link Inherit}.
     *
     * @param clientId the client identifier
     * @param taken whether the sender has taken the session over
     */
    record Inherited(String clientId, boolean taken) implements Client {}

    /**
     * The sender serves the sessions of another node, which has failed, or is about to give them back.
     *
     * @param home the other node
     * @param reign the number of the reign of the sender over the store of that node; a lower one is out of date
     * @param step the treatment of messages for that node
     * @param leftOut the filters of sessions that the sender does not serve, see {@link LeftOut}; usually empty
     */
    record Serves(String home, long reign, ServeStep step, List<String> leftOut) implements Client {}

    /** The treatment of messages for a node whose sessions another one serves. */
    enum ServeStep {
        /** Messages parked for the failed node are sent to the sender. Its routes follow. */
        SEND_ON,
        /** The routes of the sender are known: nothing is parked for the failed node any more. */
        PARK_NOTHING,
        /** The sender gives the sessions back: messages are parked for their node again. */
        PARK_AGAIN
    }

    /**
     * A step is done.
     *
     * @param home the node whose sessions the receiver serves
     * @param reign the number of its reign
     * @param step the step
     */
    record Served(String home, long reign, ServeStep step) implements Client {}

    /**
     * A refused message.
     *
     * @param sequence its sequence number
     * @param group the shared filter without a member; empty if the whole message could not be stored; {@link Homes#refusal} for a node whose
     *     sessions the receiver does not serve
     */
    record Refusal(long sequence, String group) {}
}
