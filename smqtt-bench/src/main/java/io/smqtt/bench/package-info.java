// SPDX-License-Identifier: Apache-2.0
/**
 * The load tool behind {@code smqtt bench}: clients of our own on Netty, scenarios made of them, the measurement, and its
 * reports. It knows the wire format of MQTT and nothing of a broker's inside, so that any broker can be its target.
 */
@NullMarked
package io.smqtt.bench;

import org.jspecify.annotations.NullMarked;
