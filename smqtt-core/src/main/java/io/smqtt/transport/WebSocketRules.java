// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Checks a WebSocket handshake request for one listener: RFC 6455, section 4.2.1, the listener's path and origins, and the
 * subprotocol {@code mqtt} [MQTT-6.0.0-3], or {@code mqttv3.1} of old clients. A request without Origin does not come from a browser and
 * is accepted, because the list of origins protects browser users.
 *
 * @param path the path, compared without the query
 * @param origins accepted values of Origin, * for all; empty for those of the requested host
 * @param host the listener's host
 */
record WebSocketRules(String path, List<String> origins, String host) {

    static final String VERSION = "13";

    private static final String ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; // RFC 6455, section 1.3
    private static final List<String> SUBPROTOCOLS = List.of("mqtt", "mqttv3.1");
    private static final int NONCE_BYTES = 16;
    private static final String ANY_ORIGIN = "*";

    Verdict check(HttpRequest request) {
        if (request.decoderResult().isFailure()) {
            Throwable cause = request.decoderResult().cause();
            return cause instanceof TooLongHttpHeaderException
                    ? new Refused(HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "headers")
                    : bad("malformed request");
        }
        if (!request.protocolVersion().equals(HttpVersion.HTTP_1_1)) {
            return bad("HTTP version");
        }
        if (!pathOf(request.uri()).equals(path)) {
            return new Refused(HttpResponseStatus.NOT_FOUND, "path");
        }
        return checkUpgrade(request, request.headers());
    }

    private Verdict checkUpgrade(HttpRequest request, HttpHeaders headers) {
        if (!request.method().equals(HttpMethod.GET)) {
            return bad("method");
        }
        if (!headers.containsValue(HttpHeaderNames.UPGRADE, HttpHeaderValues.WEBSOCKET, true)
                || !headers.containsValue(HttpHeaderNames.CONNECTION, HttpHeaderValues.UPGRADE, true)) {
            return new Refused(HttpResponseStatus.UPGRADE_REQUIRED, "no upgrade");
        }
        if (!VERSION.equals(headers.get(HttpHeaderNames.SEC_WEBSOCKET_VERSION))) {
            return new Refused(HttpResponseStatus.UPGRADE_REQUIRED, "WebSocket version");
        }
        List<String> hosts = headers.getAll(HttpHeaderNames.HOST);
        if (hosts.size() != 1) { // RFC 9112, section 3.2
            return bad("Host");
        }
        String asked = RequestHost.of(hosts.get(0));
        if (!originAllowed(headers.getAll(HttpHeaderNames.ORIGIN), asked)) {
            return new Refused(HttpResponseStatus.FORBIDDEN, "origin");
        }
        return checkKey(headers, isLocal(headers, asked));
    }

    /**
     * Whether nothing in the request shows that the client is remote. The Host header is checked because the name of a foreign web page
     * can resolve to this machine (DNS rebinding), and its pages then have the same host as the request.
     */
    private boolean isLocal(HttpHeaders headers, String asked) {
        boolean own = RequestHost.isLoopback(asked) || asked.equalsIgnoreCase(host);
        return own
                && !RequestHost.isForwarded(headers)
                && headers.getAll(HttpHeaderNames.ORIGIN).stream().allMatch(origin -> sameHost(origin, asked));
    }

    private static Verdict checkKey(HttpHeaders headers, boolean local) {
        List<String> keys = headers.getAll(HttpHeaderNames.SEC_WEBSOCKET_KEY);
        if (keys.size() != 1 || !isNonce(keys.get(0))) {
            return bad("key");
        }
        String subprotocol = subprotocol(headers.getAll(HttpHeaderNames.SEC_WEBSOCKET_PROTOCOL));
        return subprotocol == null ? bad("subprotocol") : new Accepted(answer(keys.get(0)), subprotocol, local);
    }

    private boolean originAllowed(List<String> sent, String asked) {
        if (sent.isEmpty() || origins.contains(ANY_ORIGIN)) {
            return true;
        }
        if (sent.size() != 1) {
            return false;
        }
        return origins.isEmpty()
                ? sameHost(sent.get(0), asked)
                : origins.stream().anyMatch(sent.get(0)::equalsIgnoreCase);
    }

    private static boolean sameHost(String origin, String asked) {
        String page = RequestHost.ofOrigin(origin);
        return !page.isEmpty() && (page.equals(asked) || RequestHost.isLoopback(page) && RequestHost.isLoopback(asked));
    }

    private static @Nullable String subprotocol(List<String> headers) {
        List<String> offered = headers.stream()
                .flatMap(header -> List.of(header.split(",", -1)).stream())
                .map(String::strip)
                .toList();
        return SUBPROTOCOLS.stream().filter(offered::contains).findFirst().orElse(null);
    }

    private static boolean isNonce(String key) {
        try {
            return Base64.getDecoder().decode(key).length == NONCE_BYTES;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static String answer(String key) {
        try {
            byte[] input = (key + ACCEPT_SUFFIX).getBytes(StandardCharsets.ISO_8859_1);
            return Base64.getEncoder()
                    .encodeToString(MessageDigest.getInstance("SHA-1").digest(input));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-1", e);
        }
    }

    private static String pathOf(String uri) {
        int query = uri.indexOf('?');
        return query < 0 ? uri : uri.substring(0, query);
    }

    private static Refused bad(String reason) {
        return new Refused(HttpResponseStatus.BAD_REQUEST, reason);
    }

    /** The decision on a request. */
    sealed interface Verdict {}

    /**
     * Accepts the upgrade.
     *
     * @param key the answer to the client's key
     * @param subprotocol the selected subprotocol
     * @param local whether nothing in the request shows that the client is remote
     */
    record Accepted(String key, String subprotocol, boolean local) implements Verdict {}

    /**
     * Refuses the request.
     *
     * @param status the answer
     * @param reason the error, for the log
     */
    record Refused(HttpResponseStatus status, String reason) implements Verdict {}
}
