// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

/**
 * Which node holds a place. The leader of the group whose home is that place has decided it.
 *
 * @param term the term of that leader
 * @param change the number of the change in that term
 * @param node the name of the node
 * @param former the name of the node that has held the place before
 */
record Holding(long term, long change, String node, String former) {

    /** That of the node that has held the place first, and given it its name. */
    static Holding first(String place) {
        return new Holding(0, 0, place, place);
    }

    /** Whether this is a later decision than another one. */
    boolean isLaterThan(Holding other) {
        return term > other.term || term == other.term && change > other.change;
    }
}
