// SPDX-License-Identifier: Apache-2.0
/**
 * A model of sessions on replicated logs, in virtual time: what would be built around a consensus engine, before it is
 * built. Nothing of it is in the product.
 */
@NullMarked
package io.smqtt.cluster.replication;

import org.jspecify.annotations.NullMarked;
