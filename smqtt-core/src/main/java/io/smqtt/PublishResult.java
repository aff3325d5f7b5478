// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

/**
 * What became of a message that the application published.
 *
 * @param matches how many subscribers it was handed to
 * @param retained whether it was stored, or cleared, as a retained message
 */
public record PublishResult(int matches, boolean retained) {}
