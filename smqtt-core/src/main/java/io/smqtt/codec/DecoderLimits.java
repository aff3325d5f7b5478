// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

/**
 * Limits of the packet decoder.
 *
 * @param maximumConnectBytes the largest CONNECT, in bytes of the whole packet; other packets are limited by the connection's
 *     maximum packet size
 * @param maximumUserProperties maximum number of user properties of one packet
 * @param maximumTopicBytes maximum length of a topic name or filter in UTF-8
 * @param maximumTopicLevels maximum number of levels of a topic name or filter
 * @param maximumFilters maximum number of filters of one SUBSCRIBE or UNSUBSCRIBE
 */
public record DecoderLimits(
        int maximumConnectBytes,
        int maximumUserProperties,
        int maximumTopicBytes,
        int maximumTopicLevels,
        int maximumFilters) {}
