// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.topic.SharedFilter;

/**
 * A route of a node: a filter and its weight.
 *
 * @param filter as a client writes it, {@code $share/…} included
 * @param weight 0 if the route is removed; for a shared filter the number of members; for another one {@link #DURABLE} or {@link #CLEAN}
 */
record RouteRow(String filter, int weight) {

    /** The weight of a filter of at least one session that outlives its connection. */
    static final int DURABLE = 1;

    /** The weight of a filter of sessions that end with their connections. */
    static final int CLEAN = 2;

    boolean isRemoval() {
        return weight == 0;
    }

    /** Whether the route ends when its node becomes unreachable. */
    boolean endsWithNode() {
        return weight == CLEAN && !SharedFilter.isShared(filter);
    }
}
