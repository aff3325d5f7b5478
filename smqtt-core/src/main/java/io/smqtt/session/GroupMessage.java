// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;

/**
 * A message of a shared group: it waits in the group's queue, or one member has it.
 *
 * @param queue the queue of the group
 * @param message the message
 * @param number its place in the queue
 * @param record the group's number in the store at the time, or 0 if the store does not have the message
 */
record GroupMessage(GroupQueue queue, ApplicationMessage message, long number, long record) {

    /** Whether the store has it, under the group's number. */
    boolean isStored() {
        return record != 0;
    }

    int bytes() {
        return message.footprintBytes();
    }
}
