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
 * Counts the connections of one broker and refuses those over a limit. A connection is open from accept to close, and pending from
 * accept until its client is let in: authenticated, and with the right to its will. Per-address counts exist only while something is
 * pending from that address, so {@code max-pending-connections} bounds them too. A connection that comes by a proxy counts for the
 * proxy's address, whatever the limit of that, until the PROXY header says where its client is.
 *
 * <p>Who is over the limit of its address is refused, and nobody is closed for it: that costs no handshake, however often one tries.
 * Who makes room for others is for {@link PendingBudget} to say.
 *
 * <p>Constant time and no lock across calls. Methods that admit return null, or the configuration key of the
 * limit that refuses; what was refused is not counted.
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

    /** How many connections are pending from an address. */
    int pendingFrom(InetAddress address) {
        return pendingByAddress.getOrDefault(address, 0);
    }

    /** The connection is not pending any more: connected, or closed before that. */
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
