// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Normalizes the host of an HTTP request and of the web page that sent it, for comparison. */
final class RequestHost {

    private static final Set<String> PROXY_HEADERS = Set.of("forwarded", "x-real-ip", "via");
    private static final String PROXY_PREFIX = "x-forwarded-";
    private static final String SCHEME_END = "://";

    private RequestHost() {}

    /** The host of a Host header: lower case, without port, brackets and a dot at its end. Empty if there is none. */
    static String of(String authority) {
        String text = authority.strip().toLowerCase(Locale.ROOT);
        int end;
        if (text.startsWith("[")) {
            end = text.indexOf(']');
            return end < 0 ? "" : text.substring(1, end);
        }
        end = text.indexOf(':');
        String host = end < 0 ? text : text.substring(0, end);
        return host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
    }

    /** The host of an Origin header; empty if it has none, like {@code null} of a page from a file. */
    static String ofOrigin(String origin) {
        int scheme = origin.indexOf(SCHEME_END);
        return scheme < 0 ? "" : of(origin.substring(scheme + SCHEME_END.length()));
    }

    /** Whether a host is a loopback name or address that does not depend on a name service. */
    static boolean isLoopback(String host) {
        if (host.equals("localhost") || host.endsWith(".localhost")) { // RFC 6761, section 6.3
            return true;
        }
        byte @Nullable [] address = NetUtil.createByteArrayFromIpAddressString(host);
        if (address == null) {
            return false;
        }
        try {
            return InetAddress.getByAddress(address).isLoopbackAddress();
        } catch (UnknownHostException e) {
            throw new IllegalStateException("not the length of an address", e);
        }
    }

    /** Whether a proxy has forwarded the request. */
    static boolean isForwarded(HttpHeaders headers) {
        for (Map.Entry<String, String> header : headers) {
            String name = header.getKey().toLowerCase(Locale.ROOT);
            if (PROXY_HEADERS.contains(name) || name.startsWith(PROXY_PREFIX)) {
                return true;
            }
        }
        return false;
    }
}
