// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import java.util.List;

/**
 * The reasons for which transport connections are refused before their CONNECT, for {@link LifecycleObserver#connectionRefused}: the
 * configuration key of a limit, or one of these words.
 */
public final class ConnectionRefusals {

    /** The TLS handshake failed or was aborted. */
    public static final String TLS_HANDSHAKE = "tls-handshake";

    /** The first bytes are of another protocol, such as HTTP on an MQTT port or plain MQTT on a TLS port. */
    public static final String WRONG_PROTOCOL = "wrong-protocol";

    /** The path of a WebSocket request is not the listener's. */
    public static final String HTTP_PATH = "http-path";

    /** The Origin of a WebSocket request is not allowed. */
    public static final String HTTP_ORIGIN = "http-origin";

    /** A WebSocket request is not one: no upgrade, a wrong version, no subprotocol of MQTT. */
    public static final String HTTP_REQUEST = "http-request";

    /** The PROXY header is missing or malformed. */
    public static final String PROXY_HEADER = "proxy-header";

    /** The handshakes took longer than the listener's connect-timeout. */
    public static final String CONNECT_TIMEOUT = "connect-timeout";

    /** All reasons, without the limits of modules. Keys of a listener have {@code <name>} in its place. */
    public static final List<String> ALL = List.of(
            "limits.max-connections",
            "limits.max-pending-connections",
            "limits.max-pending-connections-per-address",
            "limits.max-pending-bytes",
            "limits.connect-rate-per-address",
            "listeners.<name>.max-connections",
            "listeners.<name>.trusted-proxies",
            TLS_HANDSHAKE,
            WRONG_PROTOCOL,
            HTTP_PATH,
            HTTP_ORIGIN,
            HTTP_REQUEST,
            PROXY_HEADER,
            CONNECT_TIMEOUT);

    private ConnectionRefusals() {}
}
