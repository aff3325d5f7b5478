// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.spi.ClusterTransport.Refusal;
import io.smqtt.thread.AnyThread;
import io.smqtt.transport.MutualTls;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * What both ends of a connection must show before anything that the other one says is read as a message: certificates, the
 * secret, both, or nothing.
 *
 * @param tls makes the ends show certificates, if there is one
 * @param secret is what both ends must have, if there is one
 */
@AnyThread
record LinkSecurity(@Nullable MutualTls tls, @Nullable SharedSecret secret) {

    private static final String[] TLS_VERSIONS = {"TLSv1.3", "TLSv1.2"};

    /** A connection whose other end has shown what it must. */
    record Link(InputStream in, OutputStream out) {}

    /** Begins a connection that was accepted. Blocks. */
    Link accept(Socket socket) throws IOException {
        MutualTls certificates = tls;
        Link link = certificates == null ? plain(socket) : encrypted(certificates, socket, false);
        SharedSecret shared = secret;
        if (shared == null) {
            return link;
        }
        SealedLink sealed = SealedLink.accept(shared, link.in, link.out);
        return new Link(sealed.input(), sealed.output());
    }

    /** Begins a connection that was dialled. Blocks. */
    Link dial(Socket socket) throws IOException {
        MutualTls certificates = tls;
        Link link = certificates == null ? plain(socket) : encrypted(certificates, socket, true);
        SharedSecret shared = secret;
        if (shared == null) {
            return link;
        }
        SealedLink sealed = SealedLink.dial(shared, link.in, link.out);
        return new Link(sealed.input(), sealed.output());
    }

    private static Link plain(Socket socket) throws IOException {
        return new Link(socket.getInputStream(), socket.getOutputStream());
    }

    private static Link encrypted(MutualTls tls, Socket socket, boolean dials) throws IOException {
        InetAddress other = socket.getInetAddress();
        SSLSocket encrypted = (SSLSocket)
                tls.context().getSocketFactory().createSocket(socket, other.getHostAddress(), socket.getPort(), false);
        encrypted.setUseClientMode(dials);
        encrypted.setEnabledProtocols(TLS_VERSIONS.clone());
        if (!dials) {
            encrypted.setNeedClientAuth(true);
        }
        try {
            encrypted.startHandshake();
        } catch (SSLException e) {
            boolean isCutOff = e.getCause() instanceof EOFException;
            throw new RefusedException(isCutOff ? Refusal.ABORTED : Refusal.TLS, String.valueOf(e.getMessage()));
        }
        return plain(encrypted);
    }
}
