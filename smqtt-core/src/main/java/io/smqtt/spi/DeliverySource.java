// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/** The cause of a delivery that was not started by a publisher's message. */
public enum DeliverySource {
    /** A retained message was selected for a new subscription. */
    RETAINED,
    /** A message of a shared subscription that one member was sent and did not acknowledge goes to another member. */
    REDISPATCHED,
    /** A message waited for a stored session that did not fit at the start, and that is loaded or has ended now. */
    RECOVERED,
    /** A message came here with a session from another node. */
    MOVED_HERE,
    /** A message is delivered once more than it matched, because it is unknown whether the first delivery arrived. */
    REPEATED
}
