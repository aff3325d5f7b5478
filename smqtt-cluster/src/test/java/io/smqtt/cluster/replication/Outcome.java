// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import java.util.Map;

/** Result of an entry that was applied. */
sealed interface Outcome {

    Outcome ACCEPTED = new Accepted();
    Outcome REFUSED = new Refused();

    record Accepted() implements Outcome {}

    record Refused() implements Outcome {}

    /** The epoch of a claim, and which group has the session; -1 if there is none. */
    record Claimed(long epoch, int group, long groupEpoch) implements Outcome {}

    /** State of a session that was sealed. */
    record Sealed(SessionState state) implements Outcome {}

    /** What is stored for a packet identifier, with its sequence number. */
    record Known(long sequence, Message message) implements Outcome {}

    /** Where the sessions are, and the numbers of the retained messages. */
    record View(Map<String, Ownership> owners, Map<String, Long> retained) implements Outcome {}

    /**
     * Owner of a client identifier.
     *
     * @param epoch of the last claim
     * @param token of the last claim
     * @param group that has the session; -1 if there is none yet
     * @param groupEpoch the epoch at which the group got it
     */
    record Ownership(long epoch, String token, int group, long groupEpoch) {

        static final Ownership NONE = new Ownership(0, "", -1, 0);
    }
}
