// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

/**
 * The content of an entry with which a run of a node begins to serve a group. The index of the entry is the number of the reign.
 *
 * @param node the name of the node
 * @param run a random number of its process
 */
record Reign(String node, long run) {}
