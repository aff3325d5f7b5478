// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ReasonCode;
import io.smqtt.thread.AnyThread;

/** Observes connections, clients, sessions and subscriptions: their begin, their end and what was refused. */
public non-sealed interface LifecycleObserver extends Observer {

    /**
     * A transport connection was accepted.
     *
     * @param listener the listener's name
     */
    default void connectionOpened(String listener) {}

    /**
     * A transport connection ended.
     *
     * @param listener the listener's name
     * @param reason why
     */
    default void connectionClosed(String listener, ReasonCode reason) {}

    /**
     * A connection was refused before its CONNECT was complete: when it was accepted, because of a limit, or later, because
     * of what it sent first or to make room for others; the latter was told by {@link #connectionOpened} and will be by
     * {@link #connectionClosed}.
     *
     * @param listener the listener's name
     * @param reason the configuration key of the limit that refused it, or a word of {@link ConnectionRefusals}
     */
    default void connectionRefused(String listener, String reason) {}

    /**
     * A client's CONNECT was accepted.
     *
     * @param client the client
     * @param sessionPresent whether a session was resumed
     */
    default void clientConnected(ClientIdentity client, boolean sessionPresent) {}

    /**
     * A connected client is gone.
     *
     * @param client the client
     * @param reason why
     */
    default void clientDisconnected(ClientIdentity client, ReasonCode reason) {}

    /**
     * A client's CONNECT was refused.
     *
     * @param refusal who it was, as far as is known, and why
     */
    default void connectRefused(ConnectRefusal refusal) {}

    /**
     * The number of logins that wait for their password to be checked has changed. Under a lock that logins share, so it
     * must return at once.
     *
     * @param waiting how many wait now
     */
    @AnyThread
    default void passwordsWaiting(int waiting) {}

    /** A login is refused, and will be told later, because its address has sent many wrong passwords. */
    @AnyThread
    default void refusalDelayed() {}

    /**
     * An interceptor threw, gave no answer or none in time; what it was asked about was refused.
     *
     * @param packet what it was asked about: connect, publish, subscribe or unsubscribe
     */
    default void interceptorFailed(String packet) {}

    /**
     * A client was replaced by a newer connection with the same client identifier.
     *
     * @param clientId the client identifier
     */
    default void sessionTakenOver(String clientId) {}

    /**
     * A client is disconnected because it reads too slowly.
     *
     * @param listener the listener's name
     */
    default void clientTooSlow(String listener) {}

    /**
     * A session began.
     *
     * @param clientId the client identifier
     */
    default void sessionCreated(String clientId) {}

    /**
     * A session ended.
     *
     * @param clientId the client identifier
     * @param expired whether its expiry interval ran out
     */
    default void sessionEnded(String clientId, boolean expired) {}

    /**
     * A client or a filter was refused because of what sessions may hold.
     *
     * @param limit the configuration key of the limit
     */
    default void sessionRefused(String limit) {}

    /**
     * A subscription was made or replaced.
     *
     * @param clientId the client identifier
     * @param filter the filter as the client wrote it
     * @param isNew whether there was none for the filter
     */
    default void subscribed(String clientId, String filter, boolean isNew) {}

    /**
     * A subscription ended.
     *
     * @param clientId the client identifier
     * @param filter the filter as the client wrote it
     */
    default void unsubscribed(String clientId, String filter) {}

    /**
     * A will was published.
     *
     * @param clientId whose will
     */
    default void willPublished(String clientId) {}
}
