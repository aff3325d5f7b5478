// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.util.Locale;

/**
 * The address of another broker, written as {@code host:port}, or as a URL with the scheme {@code mqtt}, {@code mqtts}, {@code ws} or
 * {@code wss}.
 *
 * @param text as it was written, for logs
 * @param tls whether the connection uses TLS
 * @param webSocket whether packets are carried by WebSocket
 * @param host a name or an address, without brackets
 * @param port 1 to 65535
 * @param path the path of the WebSocket handshake; empty without WebSocket
 */
public record BridgeAddress(String text, boolean tls, boolean webSocket, String host, int port, String path) {

    private static final String KEY = "bridges.<name>.addresses";
    private static final String DEFAULT_PATH = "/mqtt";

    /**
     * Reads an address.
     *
     * @param tlsByDefault whether an address without a scheme uses TLS
     */
    static BridgeAddress parse(String text, boolean tlsByDefault) {
        int colons = text.indexOf("://");
        if (colons < 0) {
            return of(text, tlsByDefault, false, text, "");
        }
        String scheme = text.substring(0, colons).toLowerCase(Locale.ROOT);
        String rest = text.substring(colons + 3);
        int slash = rest.indexOf('/');
        String authority = slash < 0 ? rest : rest.substring(0, slash);
        String path = slash < 0 ? "" : rest.substring(slash);
        return switch (scheme) {
            case "mqtt", "mqtts" -> {
                Check.that(path.isEmpty() || path.equals("/"), KEY, "has a path, which only ws:// and wss:// can have");
                boolean tls = scheme.equals("mqtts");
                yield of(text, tls, false, withPort(authority, tls ? 8883 : 1883), "");
            }
            case "ws", "wss" -> {
                Check.that(
                        path.chars().allMatch(c -> c > ' ' && c < 0x7f && c != '#'),
                        KEY,
                        "has a path with a character that must be escaped");
                boolean tls = scheme.equals("wss");
                yield of(
                        text,
                        tls,
                        true,
                        withPort(authority, tls ? 443 : 80),
                        path.isEmpty() || path.equals("/") ? DEFAULT_PATH : path);
            }
            default ->
                throw new ConfigurationException(
                        KEY, "must hold host:port, or URLs that begin with mqtt://, mqtts://, ws:// or wss://");
        };
    }

    private static String withPort(String authority, int port) {
        boolean given = authority.lastIndexOf(':') > authority.lastIndexOf(']');
        return given ? authority : authority + ":" + port;
    }

    private static BridgeAddress of(String text, boolean tls, boolean webSocket, String authority, String path) {
        Check.that(authority.indexOf('@') < 0, KEY, "has a user; use username and password-file");
        Check.hostAndPort(KEY, authority, 1);
        int colon = authority.lastIndexOf(':');
        String host = authority.substring(0, colon);
        return new BridgeAddress(
                text,
                tls,
                webSocket,
                host.startsWith("[") ? host.substring(1, host.length() - 1) : host,
                Integer.parseInt(authority.substring(colon + 1)),
                path);
    }
}
