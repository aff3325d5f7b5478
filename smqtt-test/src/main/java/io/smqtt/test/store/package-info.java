// SPDX-License-Identifier: Apache-2.0
/**
 * Tests that every {@link io.smqtt.spi.BrokerStore} has to pass, and what they are made of. Whoever writes a store extends
 * {@link io.smqtt.test.store.BrokerStoreContract}.
 */
@NullMarked
package io.smqtt.test.store;

import org.jspecify.annotations.NullMarked;
