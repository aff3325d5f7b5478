// SPDX-License-Identifier: Apache-2.0
/**
 * MQTT packets as bytes, legal and not: a small language to write them down, and a table of packets that says for each
 * what a decoder must make of it. For tests of brokers and clients.
 */
@NullMarked
package io.smqtt.test.packet;

import org.jspecify.annotations.NullMarked;
