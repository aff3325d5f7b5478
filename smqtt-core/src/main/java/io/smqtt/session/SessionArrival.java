// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.spi.StoredMessage;
import java.util.List;
import java.util.function.Consumer;

/**
 * A session that comes from another node: {@link #add} until all is here, {@link #install}, {@link #late}, {@link #finish};
 * or {@link #discard} before it was installed. Methods may be called on any thread, each when the one before has
 * answered; replies come on any thread and tell whether it was kept.
 */
public interface SessionArrival {

    /**
     * Takes messages.
     *
     * @param messages in order, each with the state of its delivery; their numbers do not matter
     * @param done true when they are as safe as this node makes them
     */
    void add(List<StoredMessage> messages, Consumer<Boolean> done);

    /**
     * All is here: the session is this node's from now on, in the place of one that there was. Its subscriptions take
     * messages, which are held back for the time being.
     *
     * @param done true when that is safe
     */
    void install(Consumer<Boolean> done);

    /**
     * Takes messages that were routed to the old place meanwhile.
     *
     * @param messages in order
     * @param done true when they are safe
     */
    void late(List<StoredMessage> messages, Consumer<Boolean> done);

    /**
     * Nothing comes by the old place any more: what was held back follows, without what came there as well.
     *
     * @param done is called when the session can be opened
     */
    void finish(Runnable done);

    /** The rest will not come: forgets what is here. Before {@link #install}. */
    void discard();
}
