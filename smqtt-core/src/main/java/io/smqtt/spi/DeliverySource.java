// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/** Why a delivery came about other than by a message of a publisher. */
public enum DeliverySource {
    /** A retained message was selected for a new subscription. */
    RETAINED,
    /** A message of a shared subscription that one member was sent and did not acknowledge goes to another member. */
    REDISPATCHED,
    /** A message waits for a stored session that did not fit at the start, and is back or has ended now. */
    RECOVERED,
    /** A message came here with a session from another node. */
    MOVED_HERE,
    /** A message is delivered once more than it matched: it is not known whether it arrived where it was sent first. */
    REPEATED
}
