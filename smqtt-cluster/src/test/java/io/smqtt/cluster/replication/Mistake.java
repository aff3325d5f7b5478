// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

/** A mistake that is planted into the model, to see that its invariants find it. */
enum Mistake {
    /** Engine: a replica leaves out a committed entry. */
    COMMIT_DROPPED,
    /** Engine: a replica applies a committed entry twice. */
    COMMIT_APPLIED_TWICE,
    /** Engine: a proposal is answered when the leader has appended it. */
    ANSWERED_BEFORE_COMMIT,
    /** Engine: a node whose disk was wiped votes as if it had its log. */
    WIPED_NODE_VOTES,
    /** A snapshot leaves out what is known of QoS 2 messages. */
    SNAPSHOT_WITHOUT_QOS2,
    /** A node that believes it leads answers reads from its own state. */
    OLD_TERM_READS,
    /** The state machine takes writes of a server whose epoch is over. */
    OLD_EPOCH_WRITES,
    /** The state machine takes a repeated write as a new one. */
    WRITES_WITHOUT_NUMBER,
    /** A message for a session is taken whatever epoch it was routed for. */
    ROUTED_WITHOUT_EPOCH,
    /** A session is copied to its new group without being sealed in the old one. */
    ADOPTED_WITHOUT_FENCE,
    /** A group forgets the epoch of a session that has left it. */
    EPOCH_FORGOTTEN,
    /** Two claims are decided by what a node knows, not by the log. */
    CLAIMED_BY_VIEW,
    /** A message is routed by what a node knows of subscriptions, not by the log. */
    ROUTED_BY_VIEW,
    /** PUBREL is sent before the state after PUBREC is committed. */
    RELEASED_BEFORE_COMMIT
}
