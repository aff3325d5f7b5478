// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import org.jgroups.util.DefaultSocketFactory;

/** Makes the sockets of the channel's transport, which talk to nodes of this cluster only, as far as {@link LinkSecurity} can tell. Any thread. */
final class NodeSockets extends DefaultSocketFactory {

    private final LinkSecurity security;
    private final Refusals refusals;

    NodeSockets(LinkSecurity security, Refusals refusals) {
        this.security = security;
        this.refusals = refusals;
    }

    @Override
    public Socket createSocket(String service) {
        return new DialledSocket(security, refusals);
    }

    @Override
    public ServerSocket createServerSocket(String service) throws IOException {
        return new AdmittingSocket(security, refusals);
    }
}
