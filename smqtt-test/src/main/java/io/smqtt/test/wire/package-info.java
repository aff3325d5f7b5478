// SPDX-License-Identifier: Apache-2.0
/**
 * The connection between a client and its broker: a proxy that simulates faults of networks and brokers, recordings of packets, and their
 * replay.
 */
@NullMarked
package io.smqtt.test.wire;

import org.jspecify.annotations.NullMarked;
