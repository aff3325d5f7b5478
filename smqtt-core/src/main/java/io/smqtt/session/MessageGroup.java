// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.List;

/** A shared group as a member of this node sees it that has messages of the group in flight. */
@AnyThread
interface MessageGroup {

    /** Whether the group has no members any more. */
    boolean hasEnded();

    /** Whether the messages of the group are kept in the store. */
    boolean isStored();

    /** Returns messages that the member cannot finish. They precede all others of the group. */
    void giveBack(List<GroupMessage> messages);

    /** Creates the entry of a message that only the member's memory has. */
    GroupMessage inMemory(ApplicationMessage message);

    /**
     * Stores a QoS 1 message with the group, because the member has not acknowledged it in time.
     *
     * @param loop the writes of the member's event loop, which is the current one
     * @return not stored if the group has ended
     */
    @OnEventLoop
    GroupMessage store(StoreLoop loop, ApplicationMessage message);

    /**
     * Takes back a QoS 2 message that the member has stored and not sent. It waits in the group when the store has
     * committed that.
     *
     * @param loop the writes of the member's event loop, which is the current one
     * @param session the member's number in the store
     * @param ofSession the message's number in the member's queue
     */
    @OnEventLoop
    void takeOver(StoreLoop loop, ApplicationMessage message, long session, long ofSession);
}
