// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.function.Consumer;

/**
 * A session on its way to another node. Its client is disconnected. What is routed to it meanwhile is held back, and so are
 * the acknowledgements of that, within the limits of its queue. Ends with {@link #leave} or {@link #stay}. Methods may be
 * called on any thread, one after the other; replies come on any thread.
 */
public interface SessionDeparture {

    /**
     * What the session is.
     *
     * @return everything except its messages
     */
    SessionState state();

    /**
     * Reads the messages that the session had when it was stopped, in order.
     *
     * @param reply takes the next page; an empty one means that there are no more
     */
    void next(Consumer<StoredPage> reply);

    /**
     * Takes what was held back, in order. The last part is kept until {@link #taken}.
     *
     * @param reply takes the next part; an empty one means that there is nothing at the moment
     */
    void late(Consumer<List<StoredMessage>> reply);

    /** The last part of {@link #late} is safe on the other node: its publishers get their acknowledgements. */
    void taken();

    /**
     * The session is safe on the other node, and its subscriptions are known everywhere: it is forgotten here, in the store
     * as well. What was held back since {@link #late} is the other node's.
     *
     * @param done is called when it is gone
     */
    void leave(Runnable done);

    /** The other node does not take it: it goes on here, as that of a client that has just gone. */
    void stay();

    /** Is told what became of a claim. */
    @AnyThread
    interface Reply {

        /** There is no session here, or not any more. */
        void gone();

        /** The session belongs to another user. */
        void refused();

        /** The session cannot be moved now; its client is disconnected. */
        void busy();

        /**
         * The session is on its way.
         *
         * @param session what is to be asked for its parts
         */
        void departing(SessionDeparture session);
    }
}
