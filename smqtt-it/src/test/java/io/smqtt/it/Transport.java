// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

/** The four ways to reach the broker; the listener of the tested broker has the lower-case name. */
enum Transport {
    TCP,
    TLS,
    WS,
    WSS;

    boolean secure() {
        return this == TLS || this == WSS;
    }

    boolean webSocket() {
        return this == WS || this == WSS;
    }

    String listener() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
