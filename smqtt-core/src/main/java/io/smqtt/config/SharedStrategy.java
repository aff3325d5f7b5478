// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

/** Selects the member of a shared group that gets a message. */
public enum SharedStrategy {
    /** Each member in turn. */
    ROUND_ROBIN,
    /** A random member. */
    RANDOM,
    /** The same member for the same publisher. */
    HASH_CLIENT,
    /** The same member for the same topic. */
    HASH_TOPIC,
    /** The member with the fewest unacknowledged messages. */
    LEAST_IN_FLIGHT,
    /** Members of this node before those of other nodes, each in turn. */
    LOCAL_FIRST
}
