// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.config.ListenerConfig;
import io.smqtt.spi.Authentication;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.net.InetSocketAddress;
import java.security.cert.X509Certificate;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** An accepted connection as the transport sees it. */
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
     * The client's own address, also behind a trusted proxy.
     *
     * @return the address, resolved
     */
    InetSocketAddress remoteAddress();

    /**
     * Whether the client runs on this machine: its address is a loopback address, and nothing shows that it forwards another client,
     * such as a PROXY header, a header of an HTTP proxy, or a web page of another host.
     *
     * @return true for clients that {@code access.allow-anonymous: loopback} accepts
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
     * The verified certificate of the client.
     *
     * @return null without TLS or without a client certificate
     */
    @Nullable
    X509Certificate clientCertificate();

    /**
     * The user name from the certificate of the client, if the listener takes it from there.
     *
     * @return null if the user name is that of the CONNECT
     */
    default @Nullable String certificateUser() {
        return CertificateUser.of(config().tls(), clientCertificate());
    }

    /**
     * The front node that has relayed the connection, which never changes.
     *
     * @return its node-id; null if the client is connected to this node
     */
    @AnyThread
    default @Nullable String front() {
        return null;
    }

    /**
     * Sets the action for a CONNECT that is not complete in time; the default closes the channel.
     *
     * @param action must close the channel
     */
    void onConnectTimeout(Runnable action);

    /**
     * The time that is left of the connect timeout.
     *
     * @return half a minute on a link without a connect timeout; not negative
     */
    default Duration connectTimeLeft() {
        return Duration.ofSeconds(30);
    }

    /** Stops the connect timeout: the CONNECT and all packets of the authentication have arrived. */
    void connectComplete();

    /**
     * Sets the plan of all later reads of the socket. Without effect if its bytes are encrypted or in WebSocket frames.
     *
     * @param plan asked before each read
     */
    void plan(ReadPlan plan);

    /**
     * The identity of a connection that the broker has opened itself. Nobody is asked about it: it may have a reserved client identifier,
     * and gets no automatic subscriptions.
     *
     * @return null for a client
     */
    default Authentication.@Nullable Accepted vouched() {
        return null;
    }

    /** The client is authenticated: the connection no longer counts as pending. */
    void connected();
}
