// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

/** A mistake that is planted into the model, to see that its checks find it. */
enum Mistake {
    /** Engine: a new leader does not apply an entry of an earlier term. */
    COMMIT_DROPPED(4),
    /** Engine: a member applies its last entry again after a restart. */
    APPLIED_TWICE(28),
    /** Engine: a member whose disk was replaced votes at once. */
    WIPED_NODE_VOTES(10),
    /** Members apply batches of an earlier reign, and a node that has slept goes on with its store. */
    SERVED_WITH_OLD_REIGN(63),
    /** A home that leads again takes the batches that others have applied for its own. */
    BATCH_OF_ANOTHER_TAKEN_FOR_OWN(145),
    /** An adopter answers from memory after the home has the leadership again. */
    ADOPTER_KEEPS_SERVING(20),
    /** Seals, installations and settlements do not compare the epoch of their claim. */
    CLAIM_WITHOUT_EPOCH(7),
    /** A session is copied to another group without being sealed. */
    MOVED_WITHOUT_SEAL(3),
    /** A message for a session is accepted for whatever epoch it was sent. */
    ROUTED_WITHOUT_EPOCH(16),
    /** A QoS 2 message is routed before its packet identifier is committed. */
    ROUTED_BEFORE_RECEIVED(4),
    /** PUBREL is sent before PUBREC is committed. */
    PUBREL_BEFORE_COMMIT(12),
    /** A QoS 2 message that a session has is not known any more when it has moved. */
    MOVED_WITHOUT_TAKEN(18);

    private final int firstSeed;

    Mistake(int firstSeed) {
        this.firstSeed = firstSeed;
    }

    /** Where the search for a history that finds it begins. */
    int firstSeed() {
        return firstSeed;
    }
}
