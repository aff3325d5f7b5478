// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/** Why a message did not reach a subscriber. No drop is silent: each is counted under one of these. */
public enum DropReason {
    /** The session's queue holds as many messages as it may. */
    QUEUE_COUNT,
    /** The session's queue holds as many bytes as it may. */
    QUEUE_BYTES,
    /** All queues of the broker together hold half as much again as {@code limits.max-total-queued-bytes}. */
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
    /** The queue to another node holds as much as it may. */
    PEER_QUEUE,
    /** Another node went while the message was on its way there. */
    PEER_GONE,
    /** The subscriber failed; the log tells how. */
    FAILED
}
