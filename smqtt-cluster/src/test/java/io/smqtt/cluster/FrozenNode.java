// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ClusterTransport;
import reactor.core.publisher.Mono;

/** A node that introduces itself to the others, and then does nothing. */
final class FrozenNode implements ClusterTransport.Handler {

    private final ClusterTransport transport;
    private final NodeIdentity self;
    private final NodeMetadata metadata;

    /**
     * Creates a node that is not connected.
     *
     * @param transport connects it
     * @param nodeId its name
     * @param relay where it says that it takes clients of front nodes
     */
    FrozenNode(ClusterTransport transport, String nodeId, String relay) {
        this.transport = transport;
        this.self = new NodeIdentity(nodeId, 1);
        this.metadata = new NodeMetadata("test", nodeId, 1, false, relay);
    }

    Mono<Void> start() {
        return transport.start(this);
    }

    Mono<Void> stop() {
        return transport.stop();
    }

    @Override
    public void up(ClusterTransport.Peer peer) {
        transport.send(peer, FrameCodec.encode(self, metadata.hello(false, true), 0), false);
    }

    @Override
    public void down(ClusterTransport.Peer peer) {
        // it does nothing
    }

    @Override
    public void received(ClusterTransport.Peer from, byte[] frame) {
        // it answers nothing
    }

    @Override
    public void refused(ClusterTransport.Refusal reason) {
        // by whom does not matter
    }
}
