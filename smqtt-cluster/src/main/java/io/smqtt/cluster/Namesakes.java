// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ClusterTransport.Peer;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Other processes that say that they are this node, and which one gives way: one that has not joined to one that has, else the
 * later run to the earlier one. On the cluster's loop.
 */
final class Namesakes {

    private final String address;
    private final long forgetNanos;
    private final Map<Peer, Frame.Hello> known = new HashMap<>();
    private boolean joined;
    private @Nullable String ahead;
    private @Nullable String told;
    private @Nullable Peer teller;
    private long toldAtNanos;

    /**
     * Creates it for a node that has met nobody.
     *
     * @param address where this node is reached
     * @param forgetNanos how long the word of another node counts that there is a process with this node-id
     */
    Namesakes(String address, long forgetNanos) {
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
     * Another process says that it is this node.
     *
     * @param from the process
     * @param epoch its run
     * @param hello how it introduces itself; null if it says something else
     * @param own the run of this process
     * @return what has to be done
     */
    Outcome met(Peer from, long epoch, Frame.@Nullable Hello hello, long own) {
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

    /** What has to be done about another process. */
    enum Outcome {
        /** It has to introduce itself. */
        ASK,
        /** It gives way. */
        STAY,
        /** This one does. */
        GIVE_WAY
    }

    /** Another node says that it listens to a process with this node-id, and not to this one. */
    void told(Peer from, Frame.Taken taken, long nowNanos) {
        told = taken.address();
        teller = from;
        toldAtNanos = nowNanos;
    }

    /** Another node listens to this one. */
    void heardBy(Peer peer) {
        if (peer.equals(teller)) {
            told = null;
        }
    }

    void gone(Peer peer) {
        known.remove(peer);
    }

    /** Where the process is that this one gives way to, and that was heard by itself; null if there is none. */
    @Nullable
    String ahead() {
        return ahead;
    }

    /** Where another node says that there is a process with this node-id; null if none does. It may be dead, and not noticed. */
    @Nullable
    String told(long nowNanos) {
        return told != null && nowNanos - toldAtNanos < forgetNanos ? told : null;
    }
}
