// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Queues in the broker's store that hold messages for absent nodes instead of sessions. They are stored as sessions with
 * reserved identifiers. Recovery finds them; a module takes them over and writes them.
 */
@AnyThread
public final class NodeQueues {

    private static final String PREFIX = InProcess.PREFIX + "$node/";

    private final BrokerStore store;
    private final boolean awaited;
    private final List<Found> found = Collections.synchronizedList(new ArrayList<>());

    /**
     * Creates an empty instance.
     *
     * @param store the broker's store
     * @param awaited whether acknowledgements wait for the store
     */
    NodeQueues(BrokerStore store, boolean awaited) {
        this.store = store;
        this.awaited = awaited;
    }

    /**
     * A queue that was found in the store.
     *
     * @param nodeId the node
     * @param header its header
     * @param waiting a summary of its messages
     * @param filters the filters of its routes
     */
    public record Found(String nodeId, StoredSession header, StoredQueue waiting, List<String> filters) {}

    /**
     * The key of a node's queue in the store. No client identifier can equal it.
     *
     * @param nodeId the node
     * @return the identifier
     */
    public static String id(String nodeId) {
        return PREFIX + nodeId;
    }

    /** Returns the node of a recovered queue, or null if the record is a session. */
    static @Nullable String node(String clientId) {
        return clientId.startsWith(PREFIX) ? clientId.substring(PREFIX.length()) : null;
    }

    /**
     * Removes the queues that were found at the start.
     *
     * @return the queues that were not taken over yet
     */
    public List<Found> take() {
        synchronized (found) {
            List<Found> all = List.copyOf(found);
            found.clear();
            return all;
        }
    }

    /**
     * The store for writers of these queues.
     *
     * @return the broker's store, to be closed by the broker only
     */
    public BrokerStore store() {
        return store;
    }

    /**
     * Whether acknowledgements wait for the store.
     *
     * @return false with {@code storage.sync: none}
     */
    public boolean isAwaited() {
        return awaited;
    }

    /** Adds a recovered queue; its filters follow. At the start. */
    void recovered(String nodeId, StoredSession header, StoredQueue waiting) {
        found.add(new Found(nodeId, header, waiting, new ArrayList<>()));
    }

    /** Adds a filter to the queue that was added last. At the start. */
    void recovered(String filter) {
        found.get(found.size() - 1).filters().add(filter);
    }
}
