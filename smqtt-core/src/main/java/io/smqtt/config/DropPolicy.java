// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

/** Which message goes when a queue is full. */
public enum DropPolicy {
    /** The message that would be added. */
    NEWEST,
    /** The message that has waited longest. */
    OLDEST
}
