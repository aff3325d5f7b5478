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
 * Authentication of both ends of a connection, before anything from the other end is read as a message: certificates, the secret, both, or
 * nothing.
 *
 * @param tls requires certificates, if present
 * @param secret the secret of both ends, if present
 */
@AnyThread
record LinkSecurity(@Nullable MutualTls tls, @Nullable SharedSecret secret) {

    private static final String[] TLS_VERSIONS = {"TLSv1.3", "TLSv1.2"};

    /** An authenticated connection. */
    record Link(InputStream in, OutputStream out) {}

    /** Runs the handshake of an accepted connection. Blocks. */
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

    /** Runs the handshake of a dialled connection. Blocks. */
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
