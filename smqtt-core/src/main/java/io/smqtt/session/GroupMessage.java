// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;

/**
 * A message of a shared group: it waits in the group's queue, or is assigned to one member.
 *
 * @param queue the queue of the group
 * @param message the message
 * @param number its place in the queue
 * @param record the group's number in the store at that time, or 0 if the message is not stored
 */
record GroupMessage(GroupQueue queue, ApplicationMessage message, long number, long record) {

    /** Whether it is stored, under the group's number. */
    boolean isStored() {
        return record != 0;
    }

    int bytes() {
        return message.footprintBytes();
    }
}
