// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The state of a cluster as one of its nodes sees it. Immutable.
 *
 * @param state where this node is between joining and leaving
 * @param self this node
 * @param minMembers reachable nodes, this one included, that it wants; 0 for any
 * @param peers the other nodes that it knows, by name
 * @param traffic what it has exchanged with them since its start
 * @param wills wills that are kept away from the node of their client
 * @param retained what it knows of retained messages beside those that it has
 */
public record ClusterStatus(
        State state,
        Node self,
        int minMembers,
        List<PeerStatus> peers,
        Traffic traffic,
        Wills wills,
        Retained retained) {

    /**
     * Copies the list.
     *
     * @throws NullPointerException if something is missing
     */
    public ClusterStatus {
        peers = List.copyOf(peers);
    }

    /** The stage of a node between joining and leaving. */
    public enum State {
        /** It waits for the routes of those that it has found. */
        JOINING,
        /** It works. */
        JOINED,
        /** It was told to stop. */
        LEAVING
    }

    /**
     * A node's description of itself.
     *
     * @param nodeId its name
     * @param epoch its run; a later one has a greater number
     * @param address where other nodes reach it, as its configuration says
     * @param version of the program; empty if it is not known
     * @param weight how many clients it is to get in proportion to others; 0 if it is not known
     * @param routes filters, shared groups included, that its clients have subscribed to
     */
    public record Node(String nodeId, long epoch, String address, String version, int weight, int routes) {}

    /**
     * Another node.
     *
     * @param node what it says of itself, and how many of its routes are known here
     * @param reachable whether it can be reached now
     * @param routeLag changes of its routes that it has told of and that are not known here
     * @param heardMillis for how long nothing was heard of it, in milliseconds
     * @param queuedMessages messages that wait for it or are on their way to it, parked ones included
     * @param queuedBytes what these hold
     * @param parkedMessages those of them that wait for its return
     */
    public record PeerStatus(
            Node node,
            boolean reachable,
            long routeLag,
            long heardMillis,
            int queuedMessages,
            long queuedBytes,
            int parkedMessages) {}

    /**
     * Traffic with other nodes, counted from the start of this node.
     *
     * @param forwardedMessages messages sent to other nodes, once for each, repetitions included
     * @param forwardedFrames frames that they were sent in
     * @param forwardedBytes what these frames held
     * @param receivedBytes all that other nodes have sent
     * @param waitingBytes what has come of them and was not looked at yet, now; bounded
     * @param refusedFrames frames that were thrown away because too much waited; they are said again
     * @param malformedFrames frames that were thrown away
     * @param pulls questions for missing routes
     * @param repairs tables of routes that were not what their owner said: 0 in a healthy cluster
     * @param refusedConnections connections to and from other processes that were refused, for every reason
     */
    public record Traffic(
            long forwardedMessages,
            long forwardedFrames,
            long forwardedBytes,
            long receivedBytes,
            long waitingBytes,
            long refusedFrames,
            long malformedFrames,
            long pulls,
            long repairs,
            Map<ClusterTransport.Refusal, Long> refusedConnections) {

        /**
         * Creates an account.
         *
         * @throws IllegalArgumentException if a reason is missing from the refused connections
         */
        public Traffic {
            if (refusedConnections.size() != ClusterTransport.Refusal.values().length) {
                throw new IllegalArgumentException("a reason is missing");
            }
            refusedConnections = Collections.unmodifiableMap(new EnumMap<>(refusedConnections));
        }

        /**
         * Counts the connections that were refused for one reason.
         *
         * @param reason the reason
         * @return 0 or more
         */
        public long refusedConnections(ClusterTransport.Refusal reason) {
            return refusedConnections.getOrDefault(reason, 0L);
        }
    }

    /**
     * Wills that are kept away from the node of their client, to be published should that die.
     *
     * @param own wills of this node's clients that other nodes are to keep
     * @param held wills of other nodes' clients that this one keeps
     * @param heldBytes what these hold
     * @param refused wills of this node's clients that nobody else keeps, since there were too many, counted from its start
     */
    public record Wills(int own, int held, long heldBytes, long refused) {

        /** There are none. */
        public static final Wills NONE = new Wills(0, 0, 0, 0);
    }

    /**
     * A node's knowledge of retained messages beside those in its own tree.
     *
     * @param cleared topics whose message was removed or has expired, remembered so that it does not come back
     * @param clearedBytes about what these take
     * @param forgotten topics of that kind that were forgotten before their time, since there were too many, counted from its start
     * @param refused messages that other nodes have and the limits of this one do not allow
     * @param comparing parts of the topics, of 256, that it has still to compare with other nodes
     * @param compared parts of the topics that it has compared with other nodes because they differed, counted from its start
     */
    public record Retained(int cleared, long clearedBytes, long forgotten, int refused, int comparing, long compared) {

        /** There is nothing. */
        public static final Retained NONE = new Retained(0, 0, 0, 0, 0, 0);
    }

    /**
     * Counts the nodes that work together, this one included.
     *
     * @return 1 or more
     */
    public int reachableNodes() {
        return 1 + (int) peers.stream().filter(PeerStatus::reachable).count();
    }

    /**
     * Tells whether clients are welcome.
     *
     * @return true when this node has joined, is not leaving, and sees as many nodes as it wants
     */
    public boolean isReady() {
        return state == State.JOINED && reachableNodes() >= minMembers;
    }
}
