// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/**
 * The base type of observers: implement {@link LifecycleObserver}, {@link MessageObserver} or {@link StoreObserver}, several of
 * them, or all as {@link BrokerObserver}.
 *
 * <p>Every method may be called on any event loop, often at the same time (those of the store on its own thread), and must
 * neither block nor throw.
 */
public sealed interface Observer permits LifecycleObserver, MessageObserver, StoreObserver {}
