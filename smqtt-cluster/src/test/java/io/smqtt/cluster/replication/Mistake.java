// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

/** A mistake that is planted into the model, to see that its invariants find it. */
enum Mistake {
    /** Engine: a replica leaves out a committed entry. */
    COMMIT_DROPPED(1),
    /** Engine: a replica applies a committed entry twice. */
    COMMIT_APPLIED_TWICE(4),
    /** Engine: a proposal is answered when the leader has appended it. */
    ANSWERED_BEFORE_COMMIT(4),
    /** Engine: a node whose disk was wiped votes as if it had its log. */
    WIPED_NODE_VOTES(1),
    /** A snapshot leaves out what is known of QoS 2 messages. */
    SNAPSHOT_WITHOUT_QOS2(1),
    /** A node that believes it leads answers reads from its own state. */
    OLD_TERM_READS(237),
    /** The state machine takes writes of a server whose epoch is over. */
    OLD_EPOCH_WRITES(89),
    /** The state machine takes a repeated write as a new one. */
    WRITES_WITHOUT_NUMBER(68),
    /** A message for a session is taken whatever epoch it was routed for. */
    ROUTED_WITHOUT_EPOCH(0),
    /** A session is copied to its new group without being sealed in the old one. */
    ADOPTED_WITHOUT_FENCE(2),
    /** A session is installed by a claim although a later one has sealed it. */
    INSTALLED_OVER_LATER_SEAL(1104),
    /** Two claims are decided by what a node knows, not by the log. */
    CLAIMED_BY_VIEW(3),
    /** A message is routed by what a node knows of subscriptions, not by the log. */
    ROUTED_BY_VIEW(1),
    /** PUBREL is sent before the state after PUBREC is committed. */
    RELEASED_BEFORE_COMMIT(5);

    private final int firstSeed;

    Mistake(int firstSeed) {
        this.firstSeed = firstSeed;
    }

    /** Where the search for a history that finds it begins, not far from one; 0 if none is known. */
    int firstSeed() {
        return firstSeed;
    }
}
