// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.spi.DropReason;
import java.util.List;
import java.util.Map;

/**
 * The result of a message that the application published.
 *
 * @param matches how many subscribers have it, or have it in a queue: sessions, consumers in this process and other nodes, of each
 *     shared group one member. Those for whom it was dropped do not count
 * @param retained whether it was stored, or cleared, as a retained message
 * @param queued how many of them have it in a queue: the client is away, or has as much under way as it may
 * @param dropped how many deliveries were dropped on this node, by reason; without those that were not
 * @param nodes the other nodes of the cluster that it was forwarded to; what becomes of it there is not counted
 */
public record PublishResult(
        int matches, boolean retained, int queued, Map<DropReason, Integer> dropped, List<String> nodes) {

    /** Copies map and list. */
    public PublishResult {
        dropped = Map.copyOf(dropped);
        nodes = List.copyOf(nodes);
    }

    /**
     * What became of a message that everybody got at once, on this node.
     *
     * @param matches how many subscribers it was handed to
     * @param retained whether it was stored, or cleared, as a retained message
     */
    public PublishResult(int matches, boolean retained) {
        this(matches, retained, 0, Map.of(), List.of());
    }
}
