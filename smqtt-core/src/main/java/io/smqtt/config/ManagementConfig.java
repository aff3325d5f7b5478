// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The port for metrics, health and control: {@code smqtt.management.*}.
 *
 * @param host the address to bind to
 * @param port the port; 0 for any free one
 * @param tokenFile the file that holds the bearer token; null for one made at start in the data directory
 */
public record ManagementConfig(
        String host,
        int port,
        @Nullable Path tokenFile) {

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static ManagementConfig defaults() {
        return new ManagementConfig(
                "127.0.0.1",
                18_083,
                null);
    }
}
