// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.util.NetUtil;
import io.smqtt.config.ConfigurationException;
import java.net.InetAddress;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A range of addresses, such as 10.0.0.0/8 or fd00::/8; a single address is a range of one. */
final class Network {

    private static final byte[] MAPPED = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1};

    private final byte[] address;
    private final int prefixBits;

    private Network(byte[] address, int prefixBits) {
        this.address = address;
        this.prefixBits = prefixBits;
    }

    /**
     * Reads a network; names are not resolved.
     *
     * @param key the configuration key, for the message
     * @param text the value
     * @return the network
     * @throws ConfigurationException if it is not one
     */
    static Network parse(String key, String text) {
        int slash = text.indexOf('/');
        byte[] address = NetUtil.createByteArrayFromIpAddressString(slash < 0 ? text : text.substring(0, slash));
        if (address == null || isMapped(address)) {
            throw invalid(key, text, null);
        }
        int bits = address.length * Byte.SIZE;
        try {
            int prefix = slash < 0 ? bits : Integer.parseInt(text.substring(slash + 1));
            if (prefix >= 0 && prefix <= bits) {
                return new Network(address, prefix);
            }
        } catch (NumberFormatException e) {
            throw invalid(key, text, e);
        }
        throw invalid(key, text, null);
    }

    /** Whether the network contains the address; IPv4 and IPv6 never match each other. */
    boolean contains(InetAddress candidate) {
        byte[] other = candidate.getAddress();
        if (other.length != address.length) {
            return false;
        }
        int whole = prefixBits / Byte.SIZE;
        for (int i = 0; i < whole; i++) {
            if (other[i] != address[i]) {
                return false;
            }
        }
        int rest = prefixBits % Byte.SIZE;
        return rest == 0 || (other[whole] ^ address[whole]) >> Byte.SIZE - rest == 0;
    }

    /** Whether the bytes are an IPv4-mapped IPv6 address, ::ffff:a.b.c.d; clients' addresses never have this form. */
    private static boolean isMapped(byte[] bytes) {
        return bytes.length == 16 && Arrays.equals(bytes, 0, MAPPED.length, MAPPED, 0, MAPPED.length);
    }

    private static ConfigurationException invalid(String key, String text, @Nullable Throwable cause) {
        return new ConfigurationException(
                key + ": '" + text + "' is not a network such as 10.0.0.0/8 or fd00::/8", cause);
    }
}
