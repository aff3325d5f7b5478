// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import org.jgroups.Address;

/** Sends messages of a group to one of its members. */
interface GroupLink {

    /**
     * Sends a message, if the member is there. It may be lost with the connection; those that arrive are in their order. Must not be called
     * on an engine's thread.
     */
    void send(Address member, GroupMessage message);
}
