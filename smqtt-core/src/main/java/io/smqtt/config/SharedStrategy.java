// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

/** Which member of a shared group gets a message. */
public enum SharedStrategy {
    /** One after the other. */
    ROUND_ROBIN,
    /** Any. */
    RANDOM,
    /** The same member for the same publisher. */
    HASH_CLIENT,
    /** The same member for the same topic. */
    HASH_TOPIC,
    /** The member with the fewest unacknowledged messages. */
    LEAST_IN_FLIGHT,
    /** Members of this node before those of others, one after the other. */
    LOCAL_FIRST
}
