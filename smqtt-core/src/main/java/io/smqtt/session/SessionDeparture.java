// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.function.Consumer;

/**
 * A session that moves to another node. Its client is disconnected. Messages routed to it are held back in the meantime,
 * and so are their acknowledgements, within the limits of its queue. The order of calls: {@link #next} to the end, {@link #late}
 * with {@link #taken}, {@link #leave}; or {@link #stay} instead of any of them. Another call fails on the session's event loop,
 * and its reply does not come. Methods may be called on any thread, one after the other; replies come on any thread.
 */
public interface SessionDeparture {

    /**
     * The state of the session.
     *
     * @return everything except its messages
     */
    SessionState state();

    /**
     * Reads the messages of the session at the time of its departure, in order.
     *
     * @param reply receives the next page; an empty one at the end
     */
    void next(Consumer<StoredPage> reply);

    /**
     * Takes the messages that were held back, in order. The last batch is kept until {@link #taken}.
     *
     * @param reply receives the next batch; an empty one if nothing is held back at the moment
     */
    void late(Consumer<List<StoredMessage>> reply);

    /** Confirms that the other node has committed the last batch of {@link #late}: its publishers are acknowledged. */
    void taken();

    /**
     * Removes the session here, in the store too: the other node has committed it, and its subscriptions are known on all
     * nodes. Messages held back since {@link #late} belong to the other node.
     *
     * @param done called when it is removed
     */
    void leave(Runnable done);

    /** Cancels the departure: the session stays here with its client offline. */
    void stay();

    /** Receives the outcome of a claim. */
    @AnyThread
    interface Reply {

        /** No session exists here. */
        void gone();

        /** The session belongs to another user. */
        void refused();

        /** The session cannot be moved now; its client is disconnected. */
        void busy();

        /**
         * The session is ready to move.
         *
         * @param session the source of its parts
         */
        void departing(SessionDeparture session);
    }
}
