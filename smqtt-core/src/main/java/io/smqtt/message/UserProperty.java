// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

/**
 * A user property (MQTT 5.0, section 2.2.2.2): a pair that is forwarded unchanged. Names may repeat; the order is significant.
 *
 * @param name any text
 * @param value any text
 */
public record UserProperty(String name, String value) {}
