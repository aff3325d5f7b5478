// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

/**
 * The will of a client: a message that the broker publishes when the connection ends without a normal DISCONNECT
 * (MQTT 5.0, section 3.1.2.5).
 *
 * @param message the message; its expiry interval starts when it is published
 * @param delaySeconds the will delay interval, 0 to 4,294,967,295 seconds
 */
public record Will(ApplicationMessage message, long delaySeconds) {}
