// SPDX-License-Identifier: Apache-2.0
/**
 * A simulated network: many nodes in one JVM and on one thread, with virtual time and faults that follow from a seed. A run
 * with the same seed is the same run.
 */
@NullMarked
package io.smqtt.test.cluster;

import org.jspecify.annotations.NullMarked;
