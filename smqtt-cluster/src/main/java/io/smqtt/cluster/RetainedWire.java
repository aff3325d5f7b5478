// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ClusterTransport.Peer;
import java.util.Set;

/** Carries frames about retained messages. */
@OnClusterLoop
final class RetainedWire {

    private final FrameSender frames;
    private final Membership membership;

    RetainedWire(FrameSender frames, Membership membership) {
        this.frames = frames;
        this.membership = membership;
    }

    /** Sends a frame to all reachable nodes. */
    void broadcast(Frame frame) {
        if (!membership.present().isEmpty()) {
            byte[] bytes = frames.encode(frame);
            membership.present().forEach(peer -> frames.sendBulk(peer, bytes));
        }
    }

    /** Sends a frame to one node; false if the transport does not accept it now. */
    boolean send(Peer peer, Frame frame) {
        return frames.sendBulk(peer, frame);
    }

    /** Sends a short frame to one node, before messages. */
    void sendFirst(Peer peer, Frame frame) {
        frames.send(peer, frame);
    }

    /** The nodes that are reachable and acknowledge changes, and those of which that is not known yet. */
    Set<Peer> retainers() {
        return membership.retainers();
    }

    /** Whether this node reaches so few of the nodes that it knows that the others may be more than a half. */
    boolean isSmallerSide() {
        return membership.isSmallerSide();
    }

    /** Whether a known node is unreachable. */
    boolean isAnyAway() {
        return membership.isAnyAbsent();
    }
}
