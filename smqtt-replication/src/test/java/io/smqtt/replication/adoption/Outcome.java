// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import org.jspecify.annotations.Nullable;

/**
 * The result of an entry that was applied.
 *
 * @param accepted false if it changed nothing, because of its epoch or reign
 * @param number the sequence number of a received message, or the epoch of a claim
 * @param group the group that has the session of a claim, or {@link Register#NONE}
 * @param rows the sealed session, or null
 */
record Outcome(
        boolean accepted, long number, int group, @Nullable SessionRows rows) {

    static final Outcome ACCEPTED = new Outcome(true, 0, Register.NONE, null);
    static final Outcome REFUSED = new Outcome(false, 0, Register.NONE, null);

    static Outcome number(long number) {
        return new Outcome(true, number, Register.NONE, null);
    }

    static Outcome sealed(SessionRows rows) {
        return new Outcome(true, 0, Register.NONE, rows);
    }

    static Outcome claimed(long epoch, int group) {
        return new Outcome(true, epoch, group, null);
    }
}
