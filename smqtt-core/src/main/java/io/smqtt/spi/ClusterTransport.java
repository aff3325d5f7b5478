// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.thread.AnyThread;
import reactor.core.publisher.Mono;

/**
 * Transports frames between the nodes of a cluster and reports reachable processes. It does not interpret the frames and need not be
 * reliable: the cluster tolerates frames that are lost, late, duplicated or out of order, only slower.
 */
public interface ClusterTransport {

    /**
     * Starts the transport.
     *
     * @param handler notified of peers and frames from now on
     * @return completes when this process is reachable; fails if it cannot be
     */
    Mono<Void> start(Handler handler);

    /**
     * Queues a frame. Never blocks.
     *
     * @param peer the receiver: one that was reported to the handler
     * @param frame the bytes; must not be changed afterwards
     * @param bulk whether it has the low priority of bulk frames
     * @return false if it was dropped, because the peer is unknown or its queue is full
     */
    @AnyThread
    boolean send(Peer peer, byte[] frame, boolean bulk);

    /**
     * Whether nothing has arrived from a peer, not even frames of the transport itself, for longer than the detection of a failure should
     * take. This happens if only one direction works, so that the peer cannot be notified. Never blocks.
     *
     * @param peer one that was reported to the handler
     * @return false if something has arrived, or if it is unknown
     */
    @AnyThread
    default boolean isSilent(Peer peer) {
        return false;
    }

    /**
     * Stops the transport.
     *
     * @return completes when the transport has stopped
     */
    Mono<Void> stop();

    /** A process to which frames can be sent. After a restart it is another peer. Compared by {@code equals}. */
    interface Peer {

        /**
         * Returns its address for display.
         *
         * @return an address, for logs
         */
        @Override
        String toString();
    }

    /** Receives the events of the transport. Events of one peer come in order. */
    @AnyThread
    interface Handler {

        /**
         * A peer is reachable.
         *
         * @param peer the peer
         */
        void up(Peer peer);

        /**
         * A peer has become unreachable; it may return.
         *
         * @param peer the peer
         */
        void down(Peer peer);

        /**
         * A frame arrived, possibly before {@link #up}. Blocks while the receiver has too many unprocessed frames of this peer, so that
         * the transport can slow the peer. Must not be called on a thread that the receiver needs, such as its sending thread.
         *
         * @param from the sender
         * @param frame the bytes, owned by the receiver from now on
         */
        void received(Peer from, byte[] frame);

        /**
         * A connection was refused, or closed because of a received frame. Handlers that do not count these need not override this.
         *
         * @param reason why
         */
        default void refused(Refusal reason) {}
    }

    /** Why a connection between nodes is refused, by either end. */
    enum Refusal {
        /** One end does not prove that it has the other end's secret. */
        AUTHENTICATION,
        /** The TLS handshake fails: there is no TLS, or no certificate of the authority. */
        TLS,
        /** The first bytes are not those of a node of a supported version. */
        PROTOCOL,
        /** The handshake takes too long. */
        TIMEOUT,
        /** Too many handshakes are in progress. */
        OVERLOAD,
        /** The other end closes the connection during the handshake. */
        ABORTED,
        /** A frame is malformed. */
        FRAME
    }
}
