// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ReasonCode;
import io.smqtt.topic.TopicName;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A store in which persistent sessions, their messages and retained messages survive the broker's process. One writer thread processes the
 * operations of all event loops and commits many of them at once (group commit). Event loops never wait for it, acknowledgements do
 * ({@link StoreWriter}).
 *
 * <p>Life: created, {@link #recover} once, then writers and reads, {@link #close} at last. Methods may be called on any thread unless
 * stated otherwise.
 */
public interface BrokerStore extends AutoCloseable {

    /**
     * Sets the observer of commits and figures. Called by the broker, once, before {@link #recover}. A store without measurements reports
     * nothing.
     *
     * @param observer called on a thread of the store
     */
    default void observe(StoreObserver observer) {}

    /**
     * Opens a writer for an event loop. The operations of one writer become safe in the order in which they were
     * submitted, and so do those of different writers if one was flushed before the other got its operation.
     *
     * @param loop the event loop of the listener
     * @param listener notified of commits, on {@code loop}
     * @return a writer, to be used on {@code loop} only
     */
    StoreWriter writer(Executor loop, CommitListener listener);

    /**
     * Visits everything that must be in memory before the first client connects: headers and subscriptions of sessions,
     * and retained messages. Blocks; called once, before any writer is opened, not on an event loop.
     *
     * @param visitor called on the calling thread
     * @throws StoreDamagedException if the stored data cannot be read without a gap
     */
    void recover(RecoveryVisitor visitor);

    /**
     * Reads the queued messages of a session, in order of sequence numbers. Operations that were flushed before this call are visible.
     * Does not block; the reply comes on {@code loop}.
     *
     * @param session the session's number
     * @param fromSequence the first sequence number of interest
     * @param maxMessages maximum number of messages, 1 or more
     * @param maxBytes approximate maximum bytes of messages; at least one message is read if there is one
     * @param loop the event loop of the reply
     * @param reply receives the messages, in order. Only an empty page means that there are no more, not a page with fewer than {@code
     *     maxMessages}
     */
    void read(
            long session, long fromSequence, int maxMessages, int maxBytes, Executor loop, Consumer<StoredPage> reply);

    /**
     * Reads one session that did not fit into memory during {@link #recover}. Does not block; one of the replies comes on {@code loop}. A
     * store without this feature finds nothing.
     *
     * @param session the session's number
     * @param loop the event loop of the reply
     * @param found receives the session
     * @param missing receives null if there is none, otherwise the reason why it could not be read
     */
    default void find(
            long session, Executor loop, Consumer<FoundSession> found, Consumer<@Nullable Throwable> missing) {
        loop.execute(() -> missing.accept(null));
    }

    /**
     * Allocates the number of a new session, unique also across restarts.
     *
     * @return 1 or more
     */
    long newSession();

    /**
     * The store's clock: milliseconds that continue across restarts, never go backwards, and are independent of steps of the system's
     * clock while the broker runs. Deadlines use this clock.
     *
     * @return milliseconds since the store was created
     */
    long clockMillis();

    /**
     * Whether the store accepts operations now. False after a write error or on a full disk, until a later write succeeds.
     *
     * @return true if submitted operations can be committed
     */
    boolean isHealthy();

    /**
     * The reason code for a client whose session cannot be stored now.
     *
     * @return by default that of a disk that is full or fails; {@link ReasonCode#SERVER_UNAVAILABLE} if other nodes may store it
     */
    default ReasonCode refusal() {
        return ReasonCode.QUOTA_EXCEEDED;
    }

    /**
     * Whether it is known that nothing can be stored now, because this node reaches too few others. Then clients whose session would be stored are
     * refused at once, with {@link #refusal}. Does not block.
     *
     * @return by default false; false as well while a failure may be over in a moment
     */
    default boolean isCutOff() {
        return false;
    }

    /**
     * Whether another node may serve the sessions of this store without this one knowing it yet. Then a commit has to show that this node still
     * does, before a session leaves it.
     *
     * @return by default false; true for a store with replicas
     */
    default boolean mayBeServedElsewhere() {
        return false;
    }

    /** Commits the submitted operations and closes the files. Blocks; can be called more than once. */
    @Override
    void close();

    /** Receives the results of commits of one writer. Called on the writer's event loop. */
    interface CommitListener {

        /**
         * All operations up to a position are committed, with the requested safety.
         *
         * @param position a position of the writer; grows from call to call
         */
        void committed(long position);

        /**
         * The operations after the last call and up to a position have failed, and will not be retried.
         *
         * @param position a position of the writer; grows from call to call
         * @param cause why
         */
        void failed(long position, Throwable cause);
    }

    /** Receives the stored data at the start. */
    interface RecoveryVisitor {

        /**
         * A session; its subscriptions follow, and identifiers of QoS 2 messages that wait for PUBREL.
         *
         * @param session its header
         * @param waiting a summary of its queued messages
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
         * The identifier of the next message with a packet identifier, of the session visited last; see {@link StoreWriter#putReleased}.
         *
         * @param packetId 1 to 65,535, or 0
         * @param number the identifier
         */
        default void released(int packetId, long number) {}

        /**
         * A retained message.
         *
         * @param message the message; its clock is the broker's, see {@link ApplicationMessage#acceptedAtNanos()}
         */
        void retained(ApplicationMessage message);

        /**
         * A retained message with its version in the cluster.
         *
         * @param message the message, as above
         * @param version its version
         */
        default void retained(ApplicationMessage message, RetainedVersion version) {
            retained(message);
        }

        /**
         * The record of the removal of a retained message.
         *
         * @param topic the topic, which has no retained message
         * @param version the version of the removal in the cluster
         */
        default void retainedRemoval(TopicName topic, RetainedVersion version) {}

        /**
         * A note.
         *
         * @param name its name
         * @param note what was written last; of the visitor
         */
        default void note(String name, byte[] note) {}
    }
}
