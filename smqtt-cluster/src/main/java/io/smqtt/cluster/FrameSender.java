// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ClusterTransport;
import io.smqtt.spi.ClusterTransport.Peer;
import io.smqtt.spi.Ticker;

/** Sends frames to peers, under the identity of this node in its current run. */
@OnClusterLoop
final class FrameSender {

    private final ClusterTransport transport;
    private final Ticker ticker;
    private NodeIdentity self;

    /**
     * Creates a sender.
     *
     * @param self this node
     * @param transport carries the frames
     * @param ticker a monotonic clock
     */
    FrameSender(NodeIdentity self, ClusterTransport transport, Ticker ticker) {
        this.self = self;
        this.transport = transport;
        this.ticker = ticker;
    }

    /** The identity that later frames carry. */
    NodeIdentity self() {
        return self;
    }

    /** Changes the epoch of this node. */
    void epoch(long epoch) {
        self = new NodeIdentity(self.nodeId(), epoch);
    }

    byte[] encode(Frame frame) {
        return FrameCodec.encode(self, frame, ticker.nanoTime());
    }

    /** Sends a frame, before the bulk frames that wait. */
    void send(Peer peer, Frame frame) {
        transport.send(peer, encode(frame), false);
    }

    /** Sends an encoded frame, before the bulk frames that wait. */
    void send(Peer peer, byte[] frame) {
        transport.send(peer, frame, false);
    }

    /** Sends a frame to the process that runs a member; drops it if none is known. */
    void send(Member member, Frame frame) {
        Peer peer = member.peer();
        if (peer != null) {
            send(peer, frame);
        }
    }

    /** Sends an encoded frame to the process that runs a member; drops it if none is known. */
    void send(Member member, byte[] frame) {
        Peer peer = member.peer();
        if (peer != null) {
            send(peer, frame);
        }
    }

    /**
     * Sends a frame of messages or sessions.
     *
     * @return whether the transport has room for it
     */
    boolean sendBulk(Peer peer, Frame frame) {
        return sendBulk(peer, encode(frame));
    }

    /**
     * Sends an encoded frame of messages or sessions.
     *
     * @return whether the transport has room for it
     */
    boolean sendBulk(Peer peer, byte[] frame) {
        return transport.send(peer, frame, true);
    }

    /** Whether the transport has received nothing from a peer for longer than usual. */
    boolean isSilent(Peer peer) {
        return transport.isSilent(peer);
    }
}
