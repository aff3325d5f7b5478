// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/**
 * Intercepts requests of clients, and may change or refuse them. There is one kind for each packet; a class may implement several kinds.
 * Interceptors of a kind are called one after the other, in the order in which they were added. Each gets the result of the previous one,
 * and a refusal ends the chain.
 *
 * <table>
 * <caption>When they are called</caption>
 * <tr><th>kind</th><th>after</th><th>before</th></tr>
 * <tr><td>{@link ConnectInterceptor}</td><td>authentication</td><td>authorization of the will, the claim of the session</td></tr>
 * <tr><td>{@link SubscribeInterceptor}</td><td>the checks of form and limits</td><td>authorization of the filter</td></tr>
 * <tr><td>{@link UnsubscribeInterceptor}</td><td>the checks of form</td><td>the removal</td></tr>
 * <tr><td>{@link PublishInterceptor}</td><td>authorization of the topic</td><td>routing</td></tr>
 * </table>
 *
 * <p>So a changed will or subscription is authorized, and checked again when rules change, a session is resumed or a will is published. A
 * changed message is not authorized again. The subscriptions of a resumed session were intercepted when they were made, and are not
 * intercepted again; its CONNECT is. A will is intercepted with its CONNECT, and not again when it is published.
 *
 * <p>All are called on event loops and must not block; the client's next packets wait for the answer. If an interceptor throws, returns
 * null or an empty Mono, signals an error, or takes longer than half a minute, that one request is refused with 0x83; a connected client
 * stays connected. Such failures are logged, at most once a minute, and counted
 * ({@link LifecycleObserver#interceptorFailed}).
 */
public sealed interface Interceptor
        permits ConnectInterceptor, PublishInterceptor, SubscribeInterceptor, UnsubscribeInterceptor {}
