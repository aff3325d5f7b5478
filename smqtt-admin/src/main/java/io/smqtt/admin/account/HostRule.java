// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.account;

import io.netty.util.NetUtil;
import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Protects the management port from web pages of others that run in a browser near it. A page whose name resolves to this address (DNS
 * rebinding) sends its own name as Host; a page of another origin sends its own Origin.
 *
 * @param allowed names of this broker, in lower case and without port
 * @param anyName whether names that are not listed are accepted as Host, too
 */
@AnyThread
record HostRule(List<String> allowed, boolean anyName) {

    /** Whether a request may be of a foreign page, by its headers. */
    boolean isForeign(@Nullable String host, @Nullable String origin) {
        if (host != null && !isOwn(host)) {
            return true;
        }
        return origin != null && !isOwnOrigin(host, origin);
    }

    private boolean isOwnOrigin(@Nullable String host, String origin) {
        int scheme = origin.indexOf("://");
        if (scheme < 0) {
            return false; // also "null"
        }
        String authority = origin.substring(scheme + 3);
        return authority.equalsIgnoreCase(host) || allowed.contains(name(authority));
    }

    private boolean isOwn(String host) {
        String name = name(host);
        return anyName
                || name.equals("localhost")
                || NetUtil.isValidIpV4Address(name)
                || NetUtil.isValidIpV6Address(name)
                || allowed.contains(name);
    }

    private static String name(String authority) {
        int colon = authority.lastIndexOf(':');
        String name = colon > authority.lastIndexOf(']') ? authority.substring(0, colon) : authority;
        return name.toLowerCase(Locale.ROOT);
    }
}
