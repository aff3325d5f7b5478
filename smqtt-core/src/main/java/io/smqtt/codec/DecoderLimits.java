// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

/**
 * Limits of the packet decoder.
 *
 * @param maximumConnectBytes the largest CONNECT, in bytes of the whole packet; other packets obey the connection's own
 *     maximum packet size
 * @param maximumUserProperties user properties of one packet
 * @param maximumTopicBytes bytes of UTF-8 of a topic name or filter
 * @param maximumTopicLevels levels of a topic name or filter
 * @param maximumFilters filters of one SUBSCRIBE or UNSUBSCRIBE
 */
public record DecoderLimits(
        int maximumConnectBytes,
        int maximumUserProperties,
        int maximumTopicBytes,
        int maximumTopicLevels,
        int maximumFilters) {}
