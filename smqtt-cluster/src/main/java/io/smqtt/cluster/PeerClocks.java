// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * The clocks of the nodes. Each node announces its own: so a change is later than all changes before it on any node, whatever the wall
 * clocks show, and a wrong wall clock is noticed.
 */
@OnClusterLoop
final class PeerClocks {

    private static final Duration TOLERATED = Duration.ofMinutes(1);

    private final LongSupplier wallClockMillis;
    private final RetainedClock retained;
    private final PeerWarnings warnings;

    /** How far the wall clocks of the reachable nodes are ahead of that of this node, in milliseconds. */
    private final Map<String, Long> ahead = new HashMap<>();

    /**
     * Creates the clocks of a node.
     *
     * @param wallClockMillis milliseconds since 1970
     * @param retained the clock of retained messages
     * @param warnings logs wall clocks that are far apart
     */
    PeerClocks(LongSupplier wallClockMillis, RetainedClock retained, PeerWarnings warnings) {
        this.wallClockMillis = wallClockMillis;
        this.retained = retained;
        this.warnings = warnings;
    }

    /** The clocks of this node. */
    Frame own() {
        return new Frame.Clocks(wallClockMillis.getAsLong(), retained.latest());
    }

    /** Another node has announced its clocks. */
    void heard(String nodeId, Frame.Clocks theirs) {
        retained.observe(theirs.latest());
        long own = wallClockMillis.getAsLong();
        long difference = theirs.wallMillis() - own;
        ahead.put(nodeId, difference);
        if (Math.abs(difference) > TOLERATED.toMillis()) {
            warnings.warn(
                    "the clock of node {} is more than a minute off the clock of this node: {}; set one of them",
                    nodeId,
                    time(theirs.wallMillis()) + " there, " + time(own) + " here");
        }
    }

    /** A node has become unreachable. */
    void gone(String nodeId) {
        ahead.remove(nodeId);
    }

    /** The earliest of the wall clocks, by which all nodes judge what is old: a clock that is ahead must make nothing old. */
    long earliestMillis() {
        long earliest = 0;
        for (long difference : ahead.values()) {
            earliest = Math.min(earliest, difference);
        }
        return wallClockMillis.getAsLong() + earliest;
    }

    private static Instant time(long millis) {
        return Instant.ofEpochMilli(millis).truncatedTo(ChronoUnit.SECONDS);
    }
}
