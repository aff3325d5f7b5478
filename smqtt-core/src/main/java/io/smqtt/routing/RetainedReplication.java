// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.thread.AnyThread;

/** The other nodes that have the retained messages, too. */
@AnyThread
public interface RetainedReplication {

    /**
     * Whether a message may take the place of the present one. Called under the lock of the messages: must return at once.
     *
     * @param message the message that is about to be stored
     * @return false if it came from another node, and the topic has a later change: then it is not stored
     */
    boolean isLatest(ApplicationMessage message);

    /**
     * Whether publishers wait for the other nodes. Called before a change whose publisher waits for an acknowledgement.
     *
     * @return false if {@link #hold} is not to be called
     */
    boolean holdsTickets();

    /**
     * Delays the acknowledgement until the other nodes have the changes that the current thread has made up to now.
     *
     * @param ticket held by this method, and released on any thread
     */
    void hold(RouteTicket ticket);
}
