// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.connection.ClientRates.Buckets;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;

/**
 * Buckets by name, of a user or a client identifier. They exist while there are connections with the name, and after that until they are
 * full again, so that nothing is gained by connecting anew. The number of those without connections is bounded.
 */
@AnyThread
final class SharedBuckets {

    static final int MAX_IDLE = 100_000;

    private final Supplier<Buckets> full;
    private final Ticker ticker;
    private final ConcurrentMap<String, Entry> entries = new ConcurrentHashMap<>();

    /** The names without connections, so that those with connections need not be visited; changed within the changes of the entries. */
    private final Set<String> idle = ConcurrentHashMap.newKeySet();

    /** The buckets of a name, and the number of its connections; replaced, never changed. */
    private record Entry(Buckets buckets, int connections) {}

    /**
     * Creates buckets that nobody has.
     *
     * @param full creates the buckets of a new name
     * @param ticker the broker's monotonic clock
     */
    SharedBuckets(Supplier<Buckets> full, Ticker ticker) {
        this.full = full;
        this.ticker = ticker;
    }

    /** The buckets of a further connection, to be followed by {@link #disconnected}. */
    Buckets connected(String name) {
        return entries.compute(name, (key, entry) -> {
                    idle.remove(key);
                    return entry == null ? new Entry(full.get(), 1) : new Entry(entry.buckets, entry.connections + 1);
                })
                .buckets;
    }

    void disconnected(String name) {
        entries.computeIfPresent(name, (key, entry) -> {
            if (entry.connections > 1) {
                return new Entry(entry.buckets, entry.connections - 1);
            }
            if (idle.size() >= MAX_IDLE || entry.buckets.isFull(ticker.nanoTime())) {
                return null;
            }
            idle.add(key);
            return new Entry(entry.buckets, 0);
        });
    }

    /** Removes names without connections whose buckets are full again. */
    void removeIdle() {
        for (String name : idle) {
            entries.computeIfPresent(name, (key, entry) -> {
                boolean isKept = entry.connections > 0 || !entry.buckets.isFull(ticker.nanoTime());
                if (!isKept) {
                    idle.remove(key);
                }
                return isKept ? entry : null;
            });
        }
    }

    int count() {
        return entries.size();
    }
}
