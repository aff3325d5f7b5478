// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import io.smqtt.config.AccessBackendConfig;
import io.smqtt.spi.Ticker;

/**
 * The services of the broker that a backend uses. Later versions may add components: read them by name.
 *
 * @param name the name of the backend in {@code access.backends}, for threads and messages
 * @param config the keys that all backends have, such as timeout and maximum number of requests at the same time, which is the size of a
 *     pool of connections
 * @param ticker the broker's monotonic clock
 */
public record BackendContext(String name, AccessBackendConfig config, Ticker ticker) {}
