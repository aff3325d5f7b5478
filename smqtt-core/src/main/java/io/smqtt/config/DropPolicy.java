// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

/** Selects the message that is dropped when a queue is full. */
public enum DropPolicy {
    /** The new message. */
    NEWEST,
    /** The oldest message in the queue. */
    OLDEST
}
