// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the configuration files of other brokers and maps them to this broker's keys. Starts nothing.
 */
@NullMarked
package io.smqtt.migrate;

import org.jspecify.annotations.NullMarked;
