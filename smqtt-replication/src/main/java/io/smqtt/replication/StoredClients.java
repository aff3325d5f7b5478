// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.persistence.StoreReplica;
import io.smqtt.session.UnservedStores.Lookup;
import io.smqtt.thread.AnyThread;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The clients that have sessions in a store which no node serves, from the rows of a member. They are read once, on a thread of their own, and again when
 * the rows have changed; some hundred bytes of memory for each, until the store is served.
 */
@AnyThread
final class StoredClients {

    private static final Logger LOG = LoggerFactory.getLogger(StoredClients.class);
    private static final long AFTER_FAILURE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final Long NEVER = Long.MAX_VALUE;

    private final Supplier<String> home;
    private final Rows rows;
    private final LongSupplier position;
    private @Nullable Map<String, Long>
            known; // guarded by this: when each session ends, a time of System.nanoTime or NEVER
    private long knownAt; // guarded by this
    private boolean reading; // guarded by this
    private boolean forgotten; // guarded by this
    private long pauseUntilNanos = System.nanoTime(); // guarded by this

    /** Reads the rows. */
    interface Rows {

        /** See {@link StoreReplica#visitClients}. */
        void visit(StoreReplica.ClientVisitor visitor);
    }

    /**
     * Creates it without clients.
     *
     * @param home gives the name of the node whose store it is
     * @param rows the rows
     * @param position the last entry that they have
     */
    StoredClients(Supplier<String> home, Rows rows, LongSupplier position) {
        this.home = home;
        this.rows = rows;
        this.position = position;
    }

    /** Looks for the session of a client; not complete while rows are read. */
    synchronized Lookup find(String clientId) {
        forgotten = false;
        Map<String, Long> present = known;
        long now = System.nanoTime();
        if (present == null || knownAt != position.getAsLong()) {
            if (!reading && now - pauseUntilNanos >= 0) {
                reading = true;
                Thread reader = new Thread(this::read, "smqtt-replica-clients-" + home.get());
                reader.setDaemon(true);
                reader.start();
            }
            return Lookup.UNKNOWN;
        }
        Long end = present.get(clientId);
        boolean lasts = end != null && (end.equals(NEVER) || end - now > 0);
        return lasts ? new Lookup(true, home.get()) : Lookup.NOTHING;
    }

    /** The store is served: frees the memory. */
    synchronized void forget() {
        known = null;
        forgotten = true;
    }

    private void read() {
        Map<String, Long> found = null;
        long at = position.getAsLong(); // before the rows, which may have more
        try {
            Map<String, Long> next = new HashMap<>();
            long now = System.nanoTime();
            rows.visit((clientId, restMillis) -> next.merge(
                    clientId,
                    restMillis == Long.MAX_VALUE
                            ? NEVER
                            : Long.valueOf(now + TimeUnit.MILLISECONDS.toNanos(restMillis)),
                    StoredClients::later));
            found = next;
            LOG.info(
                    "no node serves the store of node {}, which has sessions of {} clients: none begins for these",
                    home.get(),
                    next.size());
        } catch (RuntimeException e) {
            LOG.warn("the clients in the store of node {} cannot be read: {}", home.get(), e.toString());
        } finally {
            read(found, at);
        }
    }

    /** A clean start whose two commits were interrupted leaves two sessions of one client. */
    private static Long later(Long one, Long other) {
        return one.equals(NEVER) || other.equals(NEVER) ? NEVER : one - other > 0 ? one : other;
    }

    private synchronized void read(@Nullable Map<String, Long> found, long at) {
        reading = false;
        if (found == null) {
            pauseUntilNanos = System.nanoTime() + AFTER_FAILURE_NANOS;
        } else if (!forgotten) {
            known = found;
            knownAt = at;
        }
    }
}
