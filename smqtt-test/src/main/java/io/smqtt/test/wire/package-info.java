// SPDX-License-Identifier: Apache-2.0
/**
 * What lies between a client and its broker: a proxy that fails as networks and brokers do, recordings of what passed, and their
 * replay.
 */
@NullMarked
package io.smqtt.test.wire;

import org.jspecify.annotations.NullMarked;
