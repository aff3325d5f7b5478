// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.spi.DropReason;
import java.util.List;
import java.util.Map;

/**
 * The result of a publish by the application.
 *
 * @param matches number of subscribers that have received or queued the message: sessions, consumers of this process, other
 *     nodes, and one member of each shared group. Subscribers for which it was dropped are not counted
 * @param retained whether the message was stored, or cleared, as a retained message
 * @param queued number of them that have it in a queue: the client is offline, or its in-flight window is full
 * @param dropped number of dropped deliveries on this node by reason, without reasons that did not occur
 * @param nodes the other nodes of the cluster that the message was forwarded to; deliveries there are not counted
 */
public record PublishResult(
        int matches, boolean retained, int queued, Map<DropReason, Integer> dropped, List<String> nodes) {

    /** Copies map and list. */
    public PublishResult {
        dropped = Map.copyOf(dropped);
        nodes = List.copyOf(nodes);
    }

    /**
     * The result of a message that all subscribers received at once, on this node.
     *
     * @param matches number of subscribers
     * @param retained whether the message was stored, or cleared, as a retained message
     */
    public PublishResult(int matches, boolean retained) {
        this(matches, retained, 0, Map.of(), List.of());
    }
}
