// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

/**
 * Entries that a leader has sent again to a member that is behind.
 *
 * @param next the first entry that the member lacked
 * @param last the last entry that was sent, or {@value #WATCHED} if none was, because the member may just be slow to answer, or {@value #REMOVED}
 *     if it gets a checkpoint in place of what it lacks
 * @param reachesEnd whether the log ended with that entry: later ones are sent as usual
 */
record Resent(long next, long last, boolean reachesEnd) {

    private static final long WATCHED = -1;
    private static final long REMOVED = Long.MAX_VALUE;

    /** Nothing was sent yet. */
    static Resent watched(long next) {
        return new Resent(next, WATCHED, false);
    }

    /** Nothing can be sent. */
    static Resent removed(long next) {
        return new Resent(next, REMOVED, false);
    }

    boolean isWatched() {
        return last == WATCHED;
    }

    /** Whether the member that lacks this entry now has what was sent, or got what was removed in another way. */
    boolean has(long lacks) {
        return lacks > last || last == REMOVED && lacks > next;
    }

    /** Whether it has what was sent, and there was nothing more. */
    boolean isLast(long lacks) {
        return reachesEnd && lacks > last;
    }
}
