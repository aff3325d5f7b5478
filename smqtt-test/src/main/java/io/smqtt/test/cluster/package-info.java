// SPDX-License-Identifier: Apache-2.0
/**
 * A simulated network: many nodes in one JVM and on one thread, with virtual time and faults that follow from a seed. A run
 * with the same seed is the same run. And a network in real time between brokers of one JVM, which a test divides
 * ({@link io.smqtt.test.cluster.MemoryNetwork}).
 */
@NullMarked
package io.smqtt.test.cluster;

import org.jspecify.annotations.NullMarked;
