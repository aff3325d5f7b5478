// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The state of a cluster as one of its nodes sees it. Immutable.
 *
 * @param state the stage of this node
 * @param self this node
 * @param minMembers required number of reachable nodes, this one included and front nodes not counted; 0 for any
 * @param peers the other known nodes, by name
 * @param traffic the traffic with them since its start
 * @param wills the replicated wills
 * @param retained the replication of retained messages
 * @param droppedForForgotten messages dropped for nodes that are no longer known, by reason; reasons without messages are absent
 * @param relay the relayed connections: of a front node those of its clients, of another node those that it has taken
 */
public record ClusterStatus(
        State state,
        Node self,
        int minMembers,
        List<PeerStatus> peers,
        Traffic traffic,
        Wills wills,
        Retained retained,
        Map<DropReason, Long> droppedForForgotten,
        Relay relay) {

    /**
     * Copies list and map.
     *
     * @throws NullPointerException if a component is null
     */
    public ClusterStatus {
        peers = List.copyOf(peers);
        droppedForForgotten = Map.copyOf(droppedForForgotten);
    }

    /**
     * A cluster without relayed connections.
     *
     * @param state the stage of this node
     * @param self this node
     * @param minMembers required number of reachable nodes; 0 for any
     * @param peers the other known nodes, by name
     * @param traffic the traffic with them
     * @param wills the replicated wills
     * @param retained the replication of retained messages
     * @param droppedForForgotten messages dropped for nodes that are no longer known, by reason
     */
    public ClusterStatus(
            State state,
            Node self,
            int minMembers,
            List<PeerStatus> peers,
            Traffic traffic,
            Wills wills,
            Retained retained,
            Map<DropReason, Long> droppedForForgotten) {
        this(state, self, minMembers, peers, traffic, wills, retained, droppedForForgotten, Relay.NONE);
    }

    /** The stage of a node between joining and leaving. */
    public enum State {
        /** It waits for the routes of the nodes that it has found. */
        JOINING,
        /** It has joined. */
        JOINED,
        /** It is stopping. */
        LEAVING
    }

    /**
     * A node's description of itself.
     *
     * @param nodeId its name
     * @param epoch its run; a later run has a greater number
     * @param address its configured address
     * @param version the version of the program; empty if unknown
     * @param weight share of clients for it, in proportion to others; 0 if unknown
     * @param routes filters, shared groups included, that its clients have subscribed to
     * @param front whether it stores nothing, and relays clients with stored sessions to other nodes
     * @param relay where it takes clients of front nodes, address and port; empty if it takes none
     */
    public record Node(
            String nodeId,
            long epoch,
            String address,
            String version,
            int weight,
            int routes,
            boolean front,
            String relay) {

        /**
         * A node that neither relays clients nor takes those of others.
         *
         * @param nodeId its name
         * @param epoch its run
         * @param address its configured address
         * @param version the version of the program; empty if unknown
         * @param weight share of clients for it; 0 if unknown
         * @param routes filters that its clients have subscribed to
         */
        public Node(String nodeId, long epoch, String address, String version, int weight, int routes) {
            this(nodeId, epoch, address, version, weight, routes, false, "");
        }
    }

    /**
     * The relayed connections of a node.
     *
     * @param connections the number of them now
     * @param waiting clients of a front node for which a node is being found
     * @param opened the number of relayed connections since its start
     * @param refused connections that were not relayed or not taken, by reason
     */
    public record Relay(int connections, int waiting, long opened, Map<RelayRefusal, Long> refused) {

        /** There are none. */
        public static final Relay NONE = new Relay(0, 0, 0, Map.of());

        /** Copies the map. */
        public Relay {
            refused = Map.copyOf(refused);
        }

        /**
         * Counts the connections that were refused for one reason.
         *
         * @param reason the reason
         * @return 0 or more
         */
        public long refused(RelayRefusal reason) {
            return refused.getOrDefault(reason, 0L);
        }
    }

    /**
     * Another node.
     *
     * @param node its description, with the number of its routes known here
     * @param reachable whether it can be reached now
     * @param routeLag announced changes of its routes that are not yet received
     * @param heardMillis milliseconds since its last frame
     * @param queuedMessages messages that wait for it or are in flight to it, parked ones included
     * @param queuedBytes what these hold
     * @param parkedMessages those that wait for its return
     * @param droppedMessages messages dropped for it since it is known here, by reason; reasons without messages are absent
     */
    public record PeerStatus(
            Node node,
            boolean reachable,
            long routeLag,
            long heardMillis,
            int queuedMessages,
            long queuedBytes,
            int parkedMessages,
            Map<DropReason, Long> droppedMessages) {

        /**
         * Copies the map.
         *
         * @throws NullPointerException if a component is null
         */
        public PeerStatus {
            droppedMessages = Map.copyOf(droppedMessages);
        }

        /**
         * Sums the dropped messages.
         *
         * @return messages, whatever the reason
         */
        public long dropped() {
            return droppedMessages.values().stream().mapToLong(Long::longValue).sum();
        }
    }

    /**
     * Traffic with other nodes, counted from the start of this node.
     *
     * @param forwardedMessages messages sent to other nodes, once for each, repetitions included
     * @param forwardedFrames frames with these messages
     * @param forwardedBytes bytes of these frames
     * @param receivedBytes bytes received from other nodes
     * @param waitingBytes bytes received and not yet processed; bounded
     * @param refusedFrames frames dropped because too many were waiting; the other node sends them again
     * @param malformedFrames malformed frames
     * @param pulls requests for missing routes
     * @param repairs route tables that differed from their owner's: 0 in a healthy cluster
     * @param refusedConnections refused connections to and from other processes, by reason
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
     * Wills that are replicated to other nodes, to be published if the node of their client fails.
     *
     * @param own wills of this node's clients that are replicated to other nodes
     * @param held wills of other nodes' clients that this node keeps
     * @param heldBytes what these hold
     * @param refused wills of this node's clients that no other node keeps because there were too many, counted from its start
     */
    public record Wills(int own, int held, long heldBytes, long refused) {

        /** No wills. */
        public static final Wills NONE = new Wills(0, 0, 0, 0);
    }

    /**
     * The replication state of retained messages on a node.
     *
     * @param cleared topics whose message was removed or expired, remembered so that it does not reappear
     * @param clearedBytes estimated bytes of these
     * @param forgotten topics of that kind that were dropped early because there were too many, counted from its start
     * @param refused messages of other nodes that the limits of this one refuse
     * @param comparing topic partitions, of 256, that are not yet compared with other nodes
     * @param compared topic partitions that were compared with other nodes because they differed, counted from its start
     * @param unawaited changes of this node that were acknowledged before all reachable nodes had them, because too many waited for one, counted
     *     from its start
     */
    public record Retained(
            int cleared, long clearedBytes, long forgotten, int refused, int comparing, long compared, long unawaited) {

        /** There is nothing. */
        public static final Retained NONE = new Retained(0, 0, 0, 0, 0, 0, 0);
    }

    /**
     * Returns the number of reachable nodes, this one included.
     *
     * @return 1 or more
     */
    public int reachableNodes() {
        return 1 + (int) peers.stream().filter(PeerStatus::reachable).count();
    }

    /**
     * Returns the number of reachable nodes that {@code cluster.min-members} counts, this one included. Front nodes do not count: they hold
     * nothing that could be on the other side of a partition.
     *
     * @return 0 or more; 0 on a front node that reaches front nodes only
     */
    public int fullNodes() {
        int full = self.front() ? 0 : 1;
        for (PeerStatus peer : peers) {
            full += peer.reachable() && !peer.node().front() ? 1 : 0;
        }
        return full;
    }

    /**
     * Whether this node serves all of its clients itself, or reaches a node that takes those with stored sessions.
     *
     * @return false on a front node without such a node
     */
    public boolean hasKeeper() {
        return !self.front()
                || peers.stream()
                        .anyMatch(
                                peer -> peer.reachable() && !peer.node().relay().isEmpty());
    }

    /**
     * Whether clients may connect.
     *
     * @return true if this node has joined, is not leaving, and reaches the required number of {@link #fullNodes}; a front node also needs one
     *     that takes its clients
     */
    public boolean isReady() {
        return state == State.JOINED && fullNodes() >= minMembers && hasKeeper();
    }
}
