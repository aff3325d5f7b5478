// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.topic.SharedFilter;

/**
 * A route of a node: a filter and its weight.
 *
 * @param filter as a client writes it, {@code $share/…} included
 * @param weight 0 if the route is removed; for a shared filter {@link #ofGroup}; for another one {@link #DURABLE} or {@link #CLEAN}
 */
record RouteRow(String filter, int weight) {

    /** The weight of a filter of at least one session that outlives its connection. */
    static final int DURABLE = 1;

    /** The weight of a filter of sessions that end with their connections. */
    static final int CLEAN = 2;

    private static final int CLEAN_MEMBERS_SHIFT = 16;
    private static final int MAXIMUM_CLEAN = Short.MAX_VALUE;
    private static final int MAXIMUM_DURABLE = 1 << 15;

    /**
     * The weight of a shared filter: the number of members in the lower 16 bits, and in the upper ones how many of them are clean sessions.
     * Of more than 32,767 members of one kind the rest is not counted.
     *
     * @param members the number of members, 0 for none
     * @param durable how many of them outlive their connections
     */
    static int ofGroup(int members, int durable) {
        int clean = Math.min(members - durable, MAXIMUM_CLEAN);
        return clean << CLEAN_MEMBERS_SHIFT | Math.min(durable, MAXIMUM_DURABLE) + clean;
    }

    /** The number of members of a shared filter. */
    int members() {
        return weight & 0xFFFF;
    }

    boolean isRemoval() {
        return weight == 0;
    }

    /** The row as it is while its node is unreachable: without clean sessions. A removal if there are no others. */
    RouteRow durable() {
        if (SharedFilter.isShared(filter)) {
            int clean = weight >>> CLEAN_MEMBERS_SHIFT;
            return clean == 0 ? this : new RouteRow(filter, Math.max(0, members() - clean));
        }
        return weight == CLEAN ? new RouteRow(filter, 0) : this;
    }

    /** Whether the route ends when its node becomes unreachable. */
    boolean endsWithNode() {
        return durable().isRemoval();
    }
}
