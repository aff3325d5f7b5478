// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the configuration files of other brokers and says the same in this broker's keys. Nothing here starts anything.
 */
@NullMarked
package io.smqtt.migrate;

import org.jspecify.annotations.NullMarked;
