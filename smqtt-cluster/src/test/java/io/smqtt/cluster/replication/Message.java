// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

/**
 * An application message; the publisher's name is its topic.
 *
 * @param publisher who published it
 * @param number its position among those of the publisher
 * @param qos 1 or 2
 * @param retain whether it is the retained message of the topic from now on
 */
record Message(String publisher, long number, int qos, boolean retain) {

    /** The will of a connection: its number is the epoch. */
    static Message will(String client, long epoch) {
        return new Message("will/" + client, epoch, 2, false);
    }
}
