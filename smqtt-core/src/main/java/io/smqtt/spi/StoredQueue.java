// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/**
 * A summary of the queued messages of a stored session, without the messages themselves.
 *
 * @param firstSequence the lowest sequence number, or the next one if the queue is empty
 * @param nextSequence greater than the highest one ever used
 * @param messages their number
 * @param bytes their total size, as {@link io.smqtt.message.ApplicationMessage#footprintBytes()} counts
 */
public record StoredQueue(long firstSequence, long nextSequence, int messages, long bytes) {}
