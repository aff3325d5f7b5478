// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.config.ListenerConfig;
import io.smqtt.thread.OnEventLoop;
import java.net.InetSocketAddress;
import java.security.cert.X509Certificate;
import org.jspecify.annotations.Nullable;

/** The transport's view of an accepted connection. */
@OnEventLoop
public interface ClientLink {

    /**
     * The listener that accepted the connection.
     *
     * @return its name in the configuration
     */
    String listener();

    /**
     * The options of the listener.
     *
     * @return its configuration
     */
    ListenerConfig config();

    /**
     * Where the client really is, behind a trusted proxy too.
     *
     * @return the address, resolved
     */
    InetSocketAddress remoteAddress();

    /**
     * Whether the client is on this machine: its address is a loopback address, and nothing says that it stands for somebody
     * else, which a PROXY header, a header of an HTTP proxy, or a web page of another host would.
     *
     * @return true for those whom {@code access.allow-anonymous: loopback} lets in
     */
    boolean local();

    /**
     * Whether MQTT is carried in WebSocket frames.
     *
     * @return true for WebSocket
     */
    boolean webSocket();

    /**
     * Whether the connection is encrypted.
     *
     * @return true for TLS
     */
    boolean tls();

    /**
     * The certificate that the client proved to own.
     *
     * @return null without TLS or without a client certificate
     */
    @Nullable
    X509Certificate clientCertificate();

    /**
     * Says what to do when the CONNECT is not complete in time; without it the channel is closed.
     *
     * @param action must close the channel
     */
    void onConnectTimeout(Runnable action);

    /** The client has sent its CONNECT and all that belongs to it: it has no deadline any more, whoever is waited for now. */
    void connectComplete();

    /** The client is who it says: the connection is not pending any more. */
    void connected();
}
