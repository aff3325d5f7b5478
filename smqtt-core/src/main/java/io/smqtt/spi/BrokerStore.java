// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ApplicationMessage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A store in which persistent sessions, their messages and retained messages survive the broker's process. One writer
 * thread takes the operations of all event loops and makes many of them safe at once (group commit); event loops never wait
 * for it, acknowledgements do ({@link StoreWriter}).
 *
 * <p>Life: created, {@link #recover} once, then writers and reads, {@link #close} at last. Methods may be called on any
 * thread unless they say otherwise.
 */
public interface BrokerStore extends AutoCloseable {

    /**
     * Who is to be told of commits and figures. Called by the broker, once, before {@link #recover}. A store that does not
     * measure itself tells nothing.
     *
     * @param observer called on a thread of the store's own
     */
    default void observe(StoreObserver observer) {}

    /**
     * Opens a writer for an event loop. The operations of one writer become safe in the order in which they were
     * submitted, and so do those of different writers if one was flushed before the other got its operation.
     *
     * @param loop where the listener is called
     * @param listener is told of commits, on {@code loop}
     * @return a writer, to be used on {@code loop} only
     */
    StoreWriter writer(Executor loop, CommitListener listener);

    /**
     * Visits everything that must be in memory before the first client connects: headers and subscriptions of sessions,
     * and retained messages. Blocks; called once, before any writer is opened, not on an event loop.
     *
     * @param visitor is called on the calling thread
     * @throws StoreDamagedException if what is stored cannot be read without losing something in the middle
     */
    void recover(RecoveryVisitor visitor);

    /**
     * Reads what waits for a session, in order of sequence numbers. What was submitted before this call by a flushed
     * writer is seen. Does not block; the reply comes on {@code loop}.
     *
     * @param session the session's number
     * @param fromSequence the first sequence number of interest
     * @param maxMessages how many at most, 1 or more
     * @param maxBytes about how many bytes of messages at most; at least one message is read if there is one
     * @param loop where the reply is wanted
     * @param reply takes the messages, in order; fewer than {@code maxMessages} does not mean that there are no more, an
     *     empty page does
     */
    void read(
            long session, long fromSequence, int maxMessages, int maxBytes, Executor loop, Consumer<StoredPage> reply);

    /**
     * Reads one session that {@link #recover} has shown and that did not fit into memory then. Does not block; one of the replies
     * comes on {@code loop}. A store that cannot do this finds nothing.
     *
     * @param session the session's number
     * @param loop where the reply is wanted
     * @param found takes the session
     * @param missing is told that there is none with null, else why it could not be read
     */
    default void find(
            long session, Executor loop, Consumer<FoundSession> found, Consumer<@Nullable Throwable> missing) {
        loop.execute(() -> missing.accept(null));
    }

    /**
     * A number for a new session, never given before, also not before a restart.
     *
     * @return 1 or more
     */
    long newSession();

    /**
     * The store's clock: milliseconds that go on over restarts, never backwards, and do not follow steps of the system's
     * clock while the broker runs. Deadlines are kept in it.
     *
     * @return milliseconds since the store was created
     */
    long clockMillis();

    /**
     * Whether the store takes operations at the moment. False after a write error or on a full disk, until a write
     * succeeds again by itself.
     *
     * @return true if what is submitted has a chance to become safe
     */
    boolean isHealthy();

    /** Commits what was submitted and closes the files. Blocks; can be called more than once. */
    @Override
    void close();

    /** Is told how far operations of one writer are safe. Called on the writer's event loop. */
    interface CommitListener {

        /**
         * Everything up to a position is safe, as safe as it was asked for.
         *
         * @param position a position of the writer; grows from call to call
         */
        void committed(long position);

        /**
         * What was submitted after the last call and up to a position was not kept, and will not be.
         *
         * @param position a position of the writer; grows from call to call
         * @param cause why
         */
        void failed(long position, Throwable cause);
    }

    /** Takes what is found at the start. */
    interface RecoveryVisitor {

        /**
         * A session; its subscriptions follow, and identifiers of QoS 2 messages that wait for PUBREL.
         *
         * @param session what is known of it
         * @param waiting how many messages wait for it
         */
        void session(StoredSession session, StoredQueue waiting);

        /**
         * A subscription of the session visited last.
         *
         * @param subscription the subscription
         */
        void subscription(StoredSubscription subscription);

        /**
         * A QoS 2 message from the client of the session visited last that was routed and not yet released.
         *
         * @param packetId 1 to 65,535
         */
        void received(int packetId);

        /**
         * A retained message.
         *
         * @param message the message; its clock is the broker's, see {@link ApplicationMessage#acceptedAtNanos()}
         */
        void retained(ApplicationMessage message);
    }
}
