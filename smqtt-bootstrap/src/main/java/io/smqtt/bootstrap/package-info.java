// SPDX-License-Identifier: Apache-2.0
/**
 * The broker as a program: command line, configuration from file, environment and flags, logging, signals and exit
 * codes. It knows what it starts only as {@code io.smqtt.Broker}.
 */
@NullMarked
package io.smqtt.bootstrap;

import org.jspecify.annotations.NullMarked;
