// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import io.smqtt.config.AccessBackendConfig;
import io.smqtt.spi.LifecycleObserver;
import io.smqtt.spi.Ticker;

/**
 * The services of the broker that a backend uses. Later versions may add components: read them by name.
 *
 * @param name the name of the backend in {@code access.backends}, for threads and messages
 * @param config the keys that all backends have, such as timeout and maximum number of requests at the same time, which is the size of a
 *     pool of connections
 * @param ticker the broker's monotonic clock
 * @param observer receives the outcome of requests that the backend makes by itself, such as for keys; those of a client's question are
 *     reported by the broker
 */
public record BackendContext(String name, AccessBackendConfig config, Ticker ticker, LifecycleObserver observer) {

    /**
     * Services without an observer.
     *
     * @param name the name of the backend
     * @param config its keys
     * @param ticker the clock
     */
    public BackendContext(String name, AccessBackendConfig config, Ticker ticker) {
        this(name, config, ticker, new LifecycleObserver() {});
    }
}
