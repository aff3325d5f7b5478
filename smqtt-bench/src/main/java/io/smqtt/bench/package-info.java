// SPDX-License-Identifier: Apache-2.0
/**
 * The load tool behind {@code smqtt bench}: its own clients on Netty, scenarios, the measurement, and its reports. It depends on the wire
 * format of MQTT only, so that any broker can be its target.
 */
@NullMarked
package io.smqtt.bench;

import org.jspecify.annotations.NullMarked;
