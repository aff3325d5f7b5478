// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.net.InetSocketAddress;
import java.nio.file.Path;

/**
 * Where a client connects to.
 *
 * @param transport how
 * @param port port on 127.0.0.1
 * @param authority PEM file of the authority that signed the server's certificate
 */
record Endpoint(Transport transport, int port, Path authority) {

    static final String HOST = "127.0.0.1";
    static final String PATH = "/mqtt";

    /** A port of this machine. */
    static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(HOST, port);
    }

    /** The same listener reached through another port of this machine. */
    Endpoint through(int otherPort) {
        return new Endpoint(transport, otherPort, authority);
    }

    /** An address with the given scheme for plain, TLS, WebSocket and secure WebSocket connections, in this order. */
    String uri(String tcp, String tls, String ws, String wss) {
        return switch (transport) {
            case TCP -> tcp + "://" + HOST + ":" + port;
            case TLS -> tls + "://" + HOST + ":" + port;
            case WS -> ws + "://" + HOST + ":" + port + PATH;
            case WSS -> wss + "://" + HOST + ":" + port + PATH;
        };
    }
}
