// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The kinds of failure of a campaign with adoption, in which clients go from one node to the others. */
enum AdoptionFailure {
    /** SIGKILL; now and then the disk is wiped, too. */
    KILL,
    /** SIGSTOP for longer than the others need to notice it, then SIGCONT. */
    FREEZE,
    /** A node is cut off from the two others, and has clients. Needs {@link NodeSpaces}. */
    CUT,
    /** SIGKILL of two nodes, one shortly after the other. */
    TWO,
    /** SIGTERM. */
    GRACEFUL,
    /** Each sync of the disk of a node takes 200 ms longer. Needs strace. */
    SLOW,
    /** SIGKILL, and a start with a wall clock that is some minutes ahead of the others, or behind. Needs libfaketime. */
    CLOCK;

    /** Those of which a campaign consists if nothing else is said. */
    static final List<AdoptionFailure> USUAL = List.of(KILL, FREEZE, CUT, TWO, GRACEFUL);

    /** The kinds of a list of names with commas. */
    static List<AdoptionFailure> of(String names) {
        return Arrays.stream(names.split(","))
                .map(name -> valueOf(name.strip().toUpperCase(Locale.ROOT)))
                .toList();
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
