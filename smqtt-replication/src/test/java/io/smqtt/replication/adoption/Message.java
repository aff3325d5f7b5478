// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

/**
 * A published message.
 *
 * @param number counts the messages of the publisher
 * @param qos 1 or 2
 */
record Message(String publisher, int number, int topic, int qos) {}
