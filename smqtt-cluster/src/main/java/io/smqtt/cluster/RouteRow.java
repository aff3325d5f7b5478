// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

/**
 * A change of one of a node's filters: whether it wants the messages, and how many members share them.
 *
 * @param filter as a client writes it, {@code $share/…} included
 * @param weight 0 if nobody wants them any more; 1; for a shared filter the number of members
 */
record RouteRow(String filter, int weight) {

    boolean isRemoval() {
        return weight == 0;
    }
}
