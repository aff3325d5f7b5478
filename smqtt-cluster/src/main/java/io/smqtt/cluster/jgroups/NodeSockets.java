// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jgroups.util.DefaultSocketFactory;

/**
 * Creates the sockets of the channel's transport, which connect to nodes of this cluster only, as far as {@link LinkSecurity} can verify.
 */
@AnyThread
final class NodeSockets extends DefaultSocketFactory {

    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final LinkSecurity security;
    private final Refusals refusals;
    private final HandshakeTimer timer = new HandshakeTimer(PATIENCE);

    /** Addresses at which a process has accepted the last connection, and was not refused in its handshake. */
    private final Set<SocketAddress> reached = ConcurrentHashMap.newKeySet();

    NodeSockets(LinkSecurity security, Refusals refusals) {
        this.security = security;
        this.refusals = refusals;
    }

    @Override
    public Socket createSocket(String service) {
        return new DialledSocket(security, refusals, timer, reached);
    }

    /** The addresses at which a process accepts connections; it may not have answered yet. A live view. */
    Set<SocketAddress> reached() {
        return reached;
    }

    @Override
    public ServerSocket createServerSocket(String service) throws IOException {
        return new AdmittingSocket(security, refusals, timer);
    }
}
