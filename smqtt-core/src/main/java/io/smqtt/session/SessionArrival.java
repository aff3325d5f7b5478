// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.spi.StoredMessage;
import java.util.List;
import java.util.function.Consumer;

/**
 * A session that arrives from another node. The order of calls: {@link #add} until all messages are here, {@link #install},
 * {@link #late}, {@link #finish}; or {@link #discard} unless it was installed. After {@link #finish} more messages may come with
 * {@link #late}. Another call fails on the session's event loop, and its reply does not come. Methods may be called on any thread,
 * each after the reply to the previous one. Replies come on any thread and report success.
 */
public interface SessionArrival {

    /**
     * Takes messages.
     *
     * @param messages messages in order, each with its delivery state; their numbers are ignored
     * @param done receives true when they are committed on this node
     */
    void add(List<StoredMessage> messages, Consumer<Boolean> done);

    /**
     * Installs the complete session on this node, in place of an existing one. Its subscriptions become active; messages
     * that they match are held back for now.
     *
     * @param done receives true when that is committed
     */
    void install(Consumer<Boolean> done);

    /**
     * Takes messages that were routed to the session's old node in the meantime.
     *
     * @param messages messages in order
     * @param done receives true when they are committed
     */
    void late(List<StoredMessage> messages, Consumer<Boolean> done);

    /**
     * Ends the arrival: no more messages come from the old node. Messages that were held back follow, without duplicates.
     *
     * @param done called when the session can be opened
     */
    void finish(Runnable done);

    /** Cancels the arrival and discards what was received. Before {@link #install}. */
    void discard();
}
