// SPDX-License-Identifier: Apache-2.0
/**
 * A store on a majority of nodes: a Raft log in RocksDB, and the groups that replicate it. Consensus is jgroups-raft's.
 */
@NullMarked
package io.smqtt.replication;

import org.jspecify.annotations.NullMarked;
