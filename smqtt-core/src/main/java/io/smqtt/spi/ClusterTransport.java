// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.thread.AnyThread;
import reactor.core.publisher.Mono;

/**
 * Carries frames between the nodes of a cluster and tells which processes can be reached. What the frames mean is not its
 * matter, and it need not be reliable: whoever uses it copes with frames that are lost, late, doubled or out of order,
 * only slower.
 */
public interface ClusterTransport {

    /**
     * Joins the others.
     *
     * @param handler what is told of peers and frames from now on
     * @return completes when this process can be reached; fails if it cannot
     */
    Mono<Void> start(Handler handler);

    /**
     * Queues a frame. Never blocks.
     *
     * @param peer where it goes: one that was told to the handler
     * @param frame the bytes; not to be changed afterwards
     * @param bulk whether it waits behind other bulk frames and not before them
     * @return false if it was thrown away, because the peer is unknown or its queue is full
     */
    @AnyThread
    boolean send(Peer peer, byte[] frame, boolean bulk);

    /**
     * Tells whether nothing of a peer has arrived, not even what the transport says for itself, for longer than it should
     * take to find it gone. So it is where only one way is open, and the peer cannot be told that it is not heard. Never
     * blocks.
     *
     * @param peer one that was told to the handler
     * @return false if something has arrived, or the transport cannot tell
     */
    @AnyThread
    default boolean isSilent(Peer peer) {
        return false;
    }

    /**
     * Leaves the others.
     *
     * @return completes when nothing of the transport runs any more
     */
    Mono<Void> stop();

    /** A process that frames can be sent to. One that starts again is another peer. Compared by {@code equals}. */
    interface Peer {

        /**
         * How people know it.
         *
         * @return an address, for logs
         */
        @Override
        String toString();
    }

    /** Is told what the transport sees. What is told of one peer comes in order. */
    @AnyThread
    interface Handler {

        /**
         * A peer can be reached.
         *
         * @param peer the peer
         */
        void up(Peer peer);

        /**
         * A peer cannot be reached any more; it may come back.
         *
         * @param peer the peer
         */
        void down(Peer peer);

        /**
         * A frame arrived. It may come before {@link #up} was told. Blocks while the receiver has too much of this peer that it
         * has not looked at, so that the transport can slow the peer; not to be called on a thread that the receiver needs to
         * go on, such as one on which it sends.
         *
         * @param from who sent it
         * @param frame the bytes, the receiver's from now on
         */
        void received(Peer from, byte[] frame);

        /**
         * A connection was refused, or ended because of what came on it. A handler that does not count them need not override this.
         *
         * @param reason why
         */
        default void refused(Refusal reason) {}
    }

    /** Why a connection between nodes is refused, by either end. */
    enum Refusal {
        /** One end does not prove that it has the secret of the other one. */
        AUTHENTICATION,
        /** The TLS handshake fails: there is no TLS, or no certificate of the authority. */
        TLS,
        /** The first bytes are not those of a node of a version that is understood. */
        PROTOCOL,
        /** The handshake takes too long. */
        TIMEOUT,
        /** Too many handshakes are under way. */
        OVERLOAD,
        /** The other end closes the connection during the handshake. */
        ABORTED,
        /** A frame is not what nodes send to each other. */
        FRAME
    }
}
