// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ReasonCode;
import io.smqtt.thread.AnyThread;

/** Observes connections, clients, sessions and subscriptions: begin, end and refusals. */
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
     * A request to a backend of authentication or authorization has ended, or was not made.
     *
     * @param backend its name in the configuration
     * @param outcome what came of it
     * @param nanos its duration in nanoseconds; 0 for a request that was not made
     */
    default void backendAnswered(String backend, BackendOutcome outcome, long nanos) {}

    /**
     * A backend has begun or ceased to work: while it fails, requests to it are not made. Called for each backend at the start.
     *
     * @param backend its name in the configuration
     * @param working whether requests are made
     */
    default void backendWorking(String backend, boolean working) {}

    /**
     * The level of overload has changed: above 0 the broker takes less work.
     *
     * @param level 0 to 3; each level includes what the lower ones do
     * @param cause the figure above its threshold, in a few words; empty if the level falls
     */
    @AnyThread
    default void overloadChanged(int level, String cause) {}

    /**
     * A connection was refused before its CONNECT was complete: when it was accepted, because of a limit, or later, because
     * of what it sent first or to make room for others; in the latter case {@link #connectionOpened} was called and {@link
     * #connectionClosed} will be.
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
     * A connected client has authenticated again: its roles and grants are others now.
     *
     * @param before the client as it was
     * @param client the client as it is now, with the same client identifier and user
     */
    default void clientReauthenticated(ClientIdentity before, ClientIdentity client) {}

    /**
     * A connected client has disconnected.
     *
     * @param client the client
     * @param reason why
     */
    default void clientDisconnected(ClientIdentity client, ReasonCode reason) {}

    /**
     * A client's CONNECT was refused.
     *
     * @param refusal the client, as far as known, and the reason
     */
    default void connectRefused(ConnectRefusal refusal) {}

    /**
     * The number of logins that wait for their password to be checked has changed. Under a lock that logins share, so it
     * must return at once.
     *
     * @param waiting the number of waiting logins
     */
    @AnyThread
    default void passwordsWaiting(int waiting) {}

    /** The answer to a refused login is delayed, because its address has sent many wrong passwords. */
    @AnyThread
    default void refusalDelayed() {}

    /**
     * The broker has banned a client or an address by itself.
     *
     * @param cause {@code flapping} or {@code refused_logins}
     */
    @AnyThread
    default void clientBanned(String cause) {}

    /**
     * An interceptor threw, gave no answer or none in time; the request was refused.
     *
     * @param packet the kind of the request: connect, publish, subscribe or unsubscribe
     */
    default void interceptorFailed(String packet) {}

    /**
     * The payload of a message was checked.
     *
     * @param validation the name of the check in the configuration
     * @param outcome {@code passed}, {@code failed}, {@code timeout} or {@code overload}
     */
    @AnyThread
    default void payloadValidated(String validation, String outcome) {}

    /** The event of a message or a client was not published, because too many waited to be published. */
    @AnyThread
    default void eventLeftOut() {}

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
     * @param expired whether its expiry interval has elapsed
     */
    default void sessionEnded(String clientId, boolean expired) {}

    /**
     * A client had two sessions, on two nodes or in two stores, and one was merged into the other.
     *
     * @param clientId the client identifier
     */
    default void sessionMerged(String clientId) {}

    /**
     * A client or a filter was refused because of a limit of session memory.
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
     * @param clientId the client of the will
     */
    default void willPublished(String clientId) {}
}
