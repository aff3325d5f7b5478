// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/**
 * Summary of the messages that wait for a stored session, without the messages themselves.
 *
 * @param firstSequence the lowest sequence number, or the next one if nothing waits
 * @param nextSequence above the highest one that was ever used
 * @param messages how many
 * @param bytes what they take together, as {@link io.smqtt.message.ApplicationMessage#footprintBytes()} counts
 */
public record StoredQueue(long firstSequence, long nextSequence, int messages, long bytes) {}
