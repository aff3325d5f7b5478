// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ClusterTransport.Peer;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Detects other processes with the node-id of this node and decides which one gives way: the one that has not joined, else the
 * later one.
 */
@OnClusterLoop
final class DuplicateNodeIds {

    private final String address;
    private final long forgetNanos;
    private final Map<Peer, Frame.Hello> known = new HashMap<>();
    private boolean joined;
    private @Nullable String ahead;
    private @Nullable String reported;
    private @Nullable Peer reporter;
    private long reportedAtNanos;

    /**
     * Creates it without any other process.
     *
     * @param address where this node is reached
     * @param forgetNanos how long the report of another node about a process with this node-id is valid
     */
    DuplicateNodeIds(String address, long forgetNanos) {
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
     * @param hello how it introduces itself; null if it says something else
     * @param own the run of this process
     * @return what has to be done
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
        if (hasJoined == joined ? !earlier : !hasJoined) {
            return Outcome.STAY;
        }
        ahead = theirs.address();
        return Outcome.GIVE_WAY;
    }

    /** The action to take about another process with the same node id. */
    enum Outcome {
        /** It has to introduce itself. */
        ASK,
        /** It gives way. */
        STAY,
        /** This one does. */
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

    /** The address of the process that this one gives way to, known by its own frames; null if there is none. */
    @Nullable
    String ahead() {
        return ahead;
    }

    /** The address of a process with this node-id that another node has reported; null if none. That process may be dead already. */
    @Nullable
    String reported(long nowNanos) {
        return reported != null && nowNanos - reportedAtNanos < forgetNanos ? reported : null;
    }
}
