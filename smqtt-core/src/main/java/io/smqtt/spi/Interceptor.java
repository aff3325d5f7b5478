// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/**
 * Sees what a client asks for, and may change or refuse it. There is one kind for each packet; a class may be of several kinds.
 * Interceptors of a kind are called one after the other, in the order in which they were added; each gets what the one before
 * has made of the request, and a refusal ends the row.
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
 * <p>So what interceptors make of a will or a subscription is authorized, which also is looked at again when rules change, a
 * session is resumed or a will falls due; what they make of a message goes where they say, and is not authorized again.
 * Subscriptions that a resumed session has were intercepted when they were made, and are not again; its CONNECT is. A will is
 * intercepted with its CONNECT, and not again when it is published.
 *
 * <p>All are called on event loops and must not block; the client's next packets wait for the answer. One that throws, answers
 * null or nothing, fails, or takes longer than half a minute refuses that request with 0x83 and nothing else: the connection of
 * a connected client lives on. Such failures are logged, once a minute at most, and counted
 * ({@link LifecycleObserver#interceptorFailed}).
 */
public sealed interface Interceptor
        permits ConnectInterceptor, PublishInterceptor, SubscribeInterceptor, UnsubscribeInterceptor {}
