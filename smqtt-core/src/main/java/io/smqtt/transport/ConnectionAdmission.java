// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.smqtt.config.LimitsConfig;
import io.smqtt.thread.AnyThread;
import java.net.InetAddress;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Counts the connections of one broker and refuses those over a limit. A connection is open from accept to close, and pending from accept
 * until its client is accepted: authenticated, and authorized for its will. Per-address counts exist only while something is
 * pending from that address, so {@code max-pending-connections} bounds them too. A connection from a proxy counts for the proxy's address,
 * without its limit, until the PROXY header has the client's address.
 *
 * <p>A connection above the limit of its address is refused, and no other connection is closed for it, so repeated attempts cost no
 * handshake. {@link PendingBudget} selects the connection that is closed to make room.
 *
 * <p>Constant time and no lock across calls. Methods that admit return null, or the configuration key of the exceeded limit; refused
 * connections are not counted.
 */
@AnyThread
final class ConnectionAdmission {

    private final LimitsConfig limits;
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger pending = new AtomicInteger();
    private final ConcurrentMap<InetAddress, Integer> pendingByAddress = new ConcurrentHashMap<>();
    private final ConnectRates rates;

    ConnectionAdmission(LimitsConfig limits, ConnectRates rates) {
        this.limits = limits;
        this.rates = rates;
    }

    @Nullable
    String opened() {
        if (open.incrementAndGet() > limits.maxConnections()) {
            open.decrementAndGet();
            return "limits.max-connections";
        }
        if (pending.incrementAndGet() > limits.maxPendingConnections()) {
            pending.decrementAndGet();
            open.decrementAndGet();
            return "limits.max-pending-connections";
        }
        return null;
    }

    /** Counts a pending connection for its address, which must have been made by {@link io.smqtt.spi.ClientNetwork#of}. */
    @Nullable
    String from(InetAddress address) {
        if (!rates.allow(address)) {
            return "limits.connect-rate-per-address";
        }
        if (pendingByAddress.merge(address, 1, Integer::sum) > limits.maxPendingConnectionsPerAddress()) {
            left(address);
            return "limits.max-pending-connections-per-address";
        }
        return null;
    }

    /** Counts a pending connection whose client's address is not known yet for that of its proxy. */
    void by(InetAddress proxy) {
        pendingByAddress.merge(proxy, 1, Integer::sum);
    }

    /** The number of pending connections from an address. */
    int pendingFrom(InetAddress address) {
        return pendingByAddress.getOrDefault(address, 0);
    }

    /** The connection is no longer pending: connected, or closed before that. */
    void settled(@Nullable InetAddress address) {
        pending.decrementAndGet();
        left(address);
    }

    void closed() {
        open.decrementAndGet();
    }

    int openCount() {
        return open.get();
    }

    int pendingCount() {
        return pending.get();
    }

    int addressCount() {
        return pendingByAddress.size();
    }

    /** Takes {@link #from} or {@link #by} back. */
    void left(@Nullable InetAddress address) {
        if (address != null) {
            pendingByAddress.computeIfPresent(address, (key, count) -> count == 1 ? null : count - 1);
        }
    }
}
