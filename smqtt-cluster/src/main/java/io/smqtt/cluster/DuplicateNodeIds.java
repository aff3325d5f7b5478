// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ClusterTransport.Peer;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Detects other processes with the node-id of this node and decides which one leaves: the one that has not joined, otherwise the later one. If they have
 * different names, one holds the place of the other, which was replaced; the nodes with replicas know which, and the other one ends.
 */
@OnClusterLoop
final class DuplicateNodeIds {

    private final String name;
    private final String address;
    private final long forgetNanos;
    private final Map<Peer, Frame.Hello> known = new HashMap<>();
    private boolean joined;
    private @Nullable String ahead;
    private @Nullable String reported;
    private @Nullable Peer reporter;
    private long reportedAtNanos;

    /**
     * Creates it without another process.
     *
     * @param name the name of this node if it is not that of its place; otherwise empty
     * @param address the address of this node
     * @param forgetNanos validity of another node's report about a process with this node-id
     */
    DuplicateNodeIds(String name, String address, long forgetNanos) {
        this.name = name;
        this.address = address;
        this.forgetNanos = forgetNanos;
    }

    boolean hasJoined() {
        return joined;
    }

    void joined() {
        joined = true;
    }

    /** Whether a process is one of them. */
    boolean contains(Peer peer) {
        return known.containsKey(peer);
    }

    /**
     * Another process has sent a frame with this node-id.
     *
     * @param from the process
     * @param epoch its run
     * @param hello its Hello; null if the frame is another one
     * @param own the run of this process
     * @return the action to take
     */
    Outcome seen(Peer from, long epoch, Frame.@Nullable Hello hello, long own) {
        if (hello != null) {
            known.put(from, hello);
        }
        Frame.Hello theirs = known.get(from);
        if (theirs == null) {
            return Outcome.ASK;
        }
        boolean hasJoined = (theirs.features() & Frame.JOINED) != 0;
        boolean earlier = epoch < own || epoch == own && theirs.address().compareTo(address) < 0;
        if (!theirs.name().equals(name) || (hasJoined == joined ? !earlier : !hasJoined)) {
            return Outcome.STAY;
        }
        ahead = theirs.address();
        return Outcome.GIVE_WAY;
    }

    /** The action to take about another process with the same node id. */
    enum Outcome {
        /** The process must send a Hello. */
        ASK,
        /** The other process leaves. */
        STAY,
        /** This process leaves. */
        GIVE_WAY
    }

    /** Another node reports a different process with this node-id, and ignores this one. */
    void reported(Peer from, Frame.Taken taken, long nowNanos) {
        reported = taken.address();
        reporter = from;
        reportedAtNanos = nowNanos;
    }

    /** Another node accepts this process. */
    void acceptedBy(Peer peer) {
        if (peer.equals(reporter)) {
            reported = null;
        }
    }

    void gone(Peer peer) {
        known.remove(peer);
    }

    /** The address of the process for which this one leaves, known by its own frames; null if there is none. */
    @Nullable
    String ahead() {
        return ahead;
    }

    /** The address of a process with this node-id that another node has reported; null if none. That process may have ended. */
    @Nullable
    String reported(long nowNanos) {
        return reported != null && nowNanos - reportedAtNanos < forgetNanos ? reported : null;
    }
}
