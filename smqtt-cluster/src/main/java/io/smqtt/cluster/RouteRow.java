// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

/**
 * A route of a node: a filter and its weight.
 *
 * @param filter as a client writes it, {@code $share/…} included
 * @param weight 0 if the route is removed; 1; for a shared filter the number of members
 */
record RouteRow(String filter, int weight) {

    boolean isRemoval() {
        return weight == 0;
    }
}
