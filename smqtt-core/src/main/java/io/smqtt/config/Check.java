// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import io.smqtt.topic.TopicTemplate;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Checks of values. Each method names the key in the exception that it throws. */
final class Check {

    private Check() {}

    static void that(boolean condition, String key, String problem) {
        if (!condition) {
            throw new ConfigurationException(key, problem);
        }
    }

    static void present(String key, @Nullable Object value) {
        that(value != null, key, "must be set");
    }

    /** Rejects a part of several values that belong together. The exception has a key that is set, so that its origin is known. */
    static void together(String[] keys, @Nullable Object... values) {
        String given = null;
        String absent = null;
        for (int i = 0; i < keys.length; i++) {
            if (values[i] == null) {
                absent = absent == null ? keys[i] : absent;
            } else {
                given = given == null ? keys[i] : given;
            }
        }
        if (given != null && absent != null) {
            throw new ConfigurationException(given, "needs " + absent + "");
        }
    }

    /** Accepts a host name or address literal. Whether it exists shows when it is bound. */
    static void host(String key, String value) {
        boolean plain = !value.isEmpty()
                && value.length() <= 255
                && value.chars().allMatch(c -> c > ' ' && c < 0x7f && c != '/' && c != ',');
        that(plain, key, "must be a host name or an address");
        boolean digits = value.chars().allMatch(c -> c == '.' || (c >= '0' && c <= '9')); // Java reads "1" as 0.0.0.1
        that(!digits || isIpv4(value), key, "must be a host name or an address, but " + value + " is no IPv4 address");
        int scope = value.indexOf('%');
        String address = scope < 0 ? value : value.substring(0, scope);
        that(
                value.indexOf(':') < 0 || isIpv6(address),
                key,
                "must be a host name or an address, but " + value + " is no IPv6 address");
    }

    /** Accepts an absolute HTTP URL. User and password are rejected, because URLs are shown. */
    static void httpUrl(String key, String value) {
        boolean http = false;
        try {
            URI uri = new URI(value);
            String scheme = uri.getScheme();
            boolean known = "http".equalsIgnoreCase(scheme) || "https".equalsIgnoreCase(scheme);
            http = known && uri.getHost() != null && uri.getRawUserInfo() == null && uri.getRawFragment() == null;
        } catch (URISyntaxException e) {
            // reported below
        }
        that(http, key, "must be a URL that begins with http:// or https:// and a host, without a user");
    }

    /** Accepts {@code name: value}. Does not show a rejected value, which may be a secret. */
    static void header(String key, String value) {
        int colon = value.indexOf(':');
        boolean plain = colon > 0
                && value.substring(0, colon).chars().allMatch(c -> c > ' ' && c < 0x7f)
                && value.chars().allMatch(c -> c >= ' ' && c < 0x7f);
        that(plain, key, "must hold headers such as `name: value`, of visible ASCII characters");
    }

    static void hostAndPort(String key, String value, int minPort) {
        int colon = value.lastIndexOf(':');
        that(colon > 0 && port(value.substring(colon + 1)) >= minPort, key, "must be host:port");
        String host = value.substring(0, colon);
        boolean bracketed = host.startsWith("[") && host.endsWith("]");
        that(bracketed || host.indexOf(':') < 0, key, "must be host:port, with an IPv6 address in brackets");
        host(key, bracketed ? host.substring(1, host.length() - 1) : host);
    }

    private static int port(String digits) {
        int value = digits.isEmpty() || digits.length() > 5 ? -1 : number(digits);
        return value > 65_535 ? -1 : value;
    }

    /** Accepts an address or an address with a prefix length, such as 10.0.0.0/8 or fd00::/8. */
    static void network(String key, String value) {
        int slash = value.indexOf('/');
        String address = slash < 0 ? value : value.substring(0, slash);
        int bits = address.indexOf(':') >= 0 ? (isIpv6(address) ? 128 : -1) : (isIpv4(address) ? 32 : -1);
        int prefix = slash < 0 ? 0 : number(value.substring(slash + 1));
        that(bits > 0 && prefix >= 0 && prefix <= bits, key, "must hold networks such as 10.0.0.0/8 or fd00::/8");
    }

    /** Accepts an address such as 10.0.0.1 or fd00::1, and no name. */
    static void address(String key, String value) {
        that(
                value.indexOf(':') >= 0 ? isIpv6(value) : isIpv4(value),
                key,
                "must be an IP address such as 10.0.0.1 or fd00::1");
    }

    private static boolean isIpv4(String address) {
        int parts = 0;
        int from = 0;
        while (from <= address.length()) {
            int dot = address.indexOf('.', from);
            int end = dot < 0 ? address.length() : dot;
            int part = end - from > 3 ? -1 : number(address.substring(from, end));
            if (part < 0 || part > 255) {
                return false;
            }
            parts++;
            from = end + 1;
        }
        return parts == 4;
    }

    private static boolean isIpv6(String address) {
        try {
            // A text with a colon is never looked up: it is an address literal or an error.
            InetAddress.getByName(address);
            return true;
        } catch (UnknownHostException e) {
            return false;
        }
    }

    private static int number(String digits) {
        if (digits.isEmpty() || digits.length() > 9) {
            return -1;
        }
        int value = 0;
        for (int i = 0; i < digits.length(); i++) {
            char c = digits.charAt(i);
            if (c < '0' || c > '9') {
                return -1;
            }
            value = value * 10 + (c - '0');
        }
        return value;
    }

    /** Accepts a name that can be a part of a key, of an environment variable and of a metric's label. */
    static void name(String key, String value) {
        boolean plain = !value.isEmpty()
                && value.length() <= 64
                && value.charAt(0) != '-'
                && value.chars().allMatch(c -> (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-');
        that(plain, key, "must have 1 to 64 characters, a to z, 0 to 9 and hyphens");
    }

    /** Accepts a topic with placeholders that are known. */
    static TopicTemplate template(String key, String value, List<String> names) {
        try {
            return TopicTemplate.parse(value, names);
        } catch (IllegalArgumentException e) {
            throw new ConfigurationException(key, String.valueOf(e.getMessage()));
        }
    }

    /** Accepts text that fits in a UTF-8 string of a packet and contains no control characters. */
    static void plainText(String key, String value) {
        that(
                value.length() <= 1_024
                        && value.chars().noneMatch(c -> c < ' ' || c == 0x7f || (c >= 0xd800 && c < 0xe000)),
                key,
                "must have at most 1024 characters and no control characters");
    }
}
