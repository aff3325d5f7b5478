// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.log.LogLimiter;
import io.smqtt.spi.ClusterTransport.Refusal;
import io.smqtt.thread.AnyThread;
import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.jgroups.stack.IpAddress;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Reports refused cluster connections: counts each one, and logs the first six per minute and reason. */
@AnyThread
final class Refusals {

    private static final Logger LOG = LoggerFactory.getLogger(Refusals.class);
    private static final int PER_MINUTE = 6;

    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, PER_MINUTE);
    private final Consumer<Refusal> counter;

    /**
     * Creates the refusals of one channel.
     *
     * @param counter called for each refusal; any thread
     */
    Refusals(Consumer<Refusal> counter) {
        this.counter = counter;
    }

    /**
     * Reports a connection that was accepted, or the frames on it, as refused.
     *
     * @param address of the peer
     * @param details the details, or null
     */
    void rejected(Refusal reason, @Nullable Object address, @Nullable String details) {
        report(reason, "rejected cluster connection from {}: {}{}", address, details);
    }

    /**
     * Reports a connection that this node has dialled as failed.
     *
     * @param address of the peer
     * @param details the details, or null
     */
    void failed(Refusal reason, @Nullable Object address, @Nullable String details) {
        report(reason, "cluster connection to {} failed: {}{}", address, details);
    }

    private void report(Refusal reason, String format, @Nullable Object address, @Nullable String details) {
        counter.accept(reason);
        String words = words(reason);
        if (lines.allows(words)) {
            LOG.warn(format, shown(address), words, details == null ? "" : ": " + details);
        }
    }

    private static String shown(@Nullable Object address) {
        if (address instanceof InetSocketAddress socket && !socket.isUnresolved()) {
            return new IpAddress(socket).toString();
        }
        return address == null ? "an unknown address" : address.toString();
    }

    private static String words(Refusal reason) {
        return switch (reason) {
            case AUTHENTICATION -> "authentication failed (different cluster.secret?)";
            case TLS -> "TLS handshake failed (no TLS, or no certificate signed by cluster.tls.client-ca?)";
            case PROTOCOL -> "not the protocol of a node (another version?)";
            case TIMEOUT -> "handshake timed out";
            case OVERLOAD -> "too many unfinished handshakes";
            case ABORTED -> "closed by the peer during the handshake";
            case FRAME -> "malformed frame";
        };
    }
}
