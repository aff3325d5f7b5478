// SPDX-License-Identifier: Apache-2.0
/**
 * The broker's configuration: immutable records with documented safe defaults. Builders check their values, and
 * {@link io.smqtt.config.BrokerConfig} those of all its blocks; how a key is declared is at {@link io.smqtt.config.ConfigBlock}.
 */
@NullMarked
package io.smqtt.config;

import org.jspecify.annotations.NullMarked;
