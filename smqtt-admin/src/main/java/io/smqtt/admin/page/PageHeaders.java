// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.page;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The security headers of the page. */
public final class PageHeaders {

    private PageHeaders() {}

    /**
     * Returns the headers that every file of the page is sent with. Scripts, styles and requests are limited to the management port. The
     * one exception are the WebSocket listeners, to which the page's MQTT client connects: a policy cannot say "the same host, another
     * port", so it names their ports.
     *
     * @param webSocketPorts the ports of the WebSocket listeners
     * @return header values by name
     */
    public static Map<String, String> of(Set<Integer> webSocketPorts) {
        List<String> connect = new ArrayList<>(List.of("'self'"));
        for (int port : new TreeSet<>(webSocketPorts)) {
            connect.add("ws://*:" + port);
            connect.add("wss://*:" + port);
        }
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put(
                "Content-Security-Policy",
                "default-src 'self'; connect-src " + String.join(" ", connect)
                        + "; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
        headers.put("X-Content-Type-Options", "nosniff");
        headers.put("X-Frame-Options", "DENY");
        headers.put("Referrer-Policy", "no-referrer");
        headers.put("Cross-Origin-Opener-Policy", "same-origin");
        headers.put("Cross-Origin-Resource-Policy", "same-origin");
        headers.put("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=()");
        return headers;
    }
}
