// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** {@code --node} of commands that ask all nodes without it. */
final class NodeOption {

    @Nullable
    @Option(names = "--node", paramLabel = "NODE", description = "Is the only node to ask.")
    String node;

    /**
     * Adds the node to the parameters of a request.
     *
     * @param query the parameters; a null value is left out of the request
     */
    void addTo(Map<String, @Nullable Object> query) {
        query.put("node", node);
    }
}
