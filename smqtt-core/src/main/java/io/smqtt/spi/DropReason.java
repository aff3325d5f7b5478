// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/** The reason why a message did not reach a subscriber. Each drop is counted with one of these. */
public enum DropReason {
    /** The session's queue has reached its limit of messages. */
    QUEUE_COUNT,
    /** The session's queue has reached its limit of bytes. */
    QUEUE_BYTES,
    /** All queues of the broker together have reached one and a half times {@code limits.max-total-queued-bytes}. */
    TOTAL_QUEUE_BYTES,
    /** A QoS 0 message for a client that does not read fast enough. */
    SLOW_CONSUMER,
    /** A QoS 0 message for a client that is offline. */
    OFFLINE,
    /** The message expired before it was sent, or before it was sent again at QoS 1. */
    EXPIRED,
    /** The packet would be larger than the client's maximum packet size. */
    PACKET_TOO_LARGE,
    /** The client may not receive messages of this topic. */
    NOT_AUTHORIZED,
    /** The session ended while messages waited for it. */
    SESSION_ENDED,
    /** No member of the shared group can take the message. */
    NO_SHARED_MEMBER,
    /** The client answered with an error code. */
    REFUSED_BY_CLIENT,
    /** An in-process subscriber without demand. */
    NO_DEMAND,
    /** The queue to another node is full. */
    PEER_QUEUE,
    /** Another node failed while the message was in flight to it. */
    PEER_GONE,
    /** The subscriber failed; see the log. */
    FAILED
}
