// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.util.List;

/** What nodes say to each other. Each frame also carries who says it: see {@link FrameCodec}. */
sealed interface Frame {

    /** The version of the frames that this build writes. */
    int VERSION = 1;

    /** No sequence is known: everything is asked for. */
    long NOTHING = -1;

    /**
     * Introduces a node. The answer to one that wants it is another.
     *
     * @param minVersion the oldest version of frames that the node reads
     * @param maxVersion the newest one
     * @param features reserved: bits for abilities that not every node has
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
     * What all routes of the sender come to.
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
     * A retained message as some node has it, or that its topic has none.
     *
     * @param version when it was retained
     * @param message the message; an empty payload if there is none
     */
    record RetainedUpdate(RetainedVersion version, ForwardedMessage message) implements Frame {}

    /**
     * What the retained messages of the sender come to.
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
     * A message that was not taken over.
     *
     * @param sequence its number
     * @param group the shared filter that it had no member for; empty if the message could not be kept at all
     */
    record Refusal(long sequence, String group) {}
}
