// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import io.smqtt.config.ConfigurationException;
import java.util.List;

/**
 * Makes backends of one type. Found by {@link java.util.ServiceLoader}: a jar lists its factories in
 * {@code META-INF/services/io.smqtt.access.backend.AccessBackendFactory}. A factory has a public constructor without parameters and no
 * state.
 */
public interface AccessBackendFactory {

    /**
     * The type, as in {@code access.backends.<name>.type}.
     *
     * @return lower case letters, such as {@code http}
     */
    String type();

    /**
     * The keys of the type, beside those that all backends have ({@link io.smqtt.config.AccessBackendConfig}).
     *
     * @return the declarations; a key that is not among them is rejected at the start
     */
    List<BackendSetting> settings();

    /**
     * Makes a backend. It must not connect, because the broker starts also while a backend is down; files may be read, threads and pools
     * created. Blocks. Called by the start, and by the check of a configuration, which closes the backend at once.
     *
     * @param settings the values of {@link #settings()}, of the declared form and within their bounds
     * @param context what a backend gets from the broker
     * @return the backend
     * @throws ConfigurationException if the values contradict each other; {@link BackendSettings#problem} makes one with the line
     */
    AccessBackend open(BackendSettings settings, BackendContext context);
}
