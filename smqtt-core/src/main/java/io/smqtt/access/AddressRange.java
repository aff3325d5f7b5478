// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.netty.util.NetUtil;
import io.smqtt.thread.AnyThread;
import java.net.InetAddress;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A network such as 10.0.0.0/8 or 2001:db8::/32, or a single address. Immutable. */
@AnyThread
public final class AddressRange {

    private static final byte[] MAPPED = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1};

    private final byte[] network;
    private final int prefixBits;

    private AddressRange(byte[] network, int prefixBits) {
        this.network = network;
        this.prefixBits = prefixBits;
    }

    /**
     * Parses a network. Makes no DNS query.
     *
     * @param text an address, or an address, a slash and the number of bits
     * @return null if the text is not one
     */
    public static @Nullable AddressRange parse(String text) {
        int slash = text.indexOf('/');
        String address = slash < 0 ? text : text.substring(0, slash);
        byte @Nullable [] bytes = address.indexOf('%') < 0 ? NetUtil.createByteArrayFromIpAddressString(address) : null;
        if (bytes == null || isMapped(bytes)) {
            return null;
        }
        int bits = slash < 0 ? bytes.length * 8 : prefix(text, slash + 1);
        return bits >= 0 && bits <= bytes.length * 8 ? new AddressRange(bytes, bits) : null;
    }

    /**
     * Whether an address is in the network.
     *
     * @param address an address
     * @return false also for one of the other IP version
     */
    public boolean contains(InetAddress address) {
        byte[] bytes = address.getAddress();
        if (bytes.length != network.length) {
            return false;
        }
        int whole = prefixBits >>> 3;
        int rest = prefixBits & 7;
        return Arrays.equals(bytes, 0, whole, network, 0, whole)
                && (rest == 0 || ((bytes[whole] ^ network[whole]) & 0xFF) >>> (8 - rest) == 0);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof AddressRange range
                && range.prefixBits == prefixBits
                && Arrays.equals(range.network, network);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(network) + prefixBits;
    }

    /** {@return the network with its bits, for instance {@code 10.0.0.0/8}} */
    @Override
    public String toString() {
        byte[] masked = network.clone();
        for (int bit = prefixBits; bit < masked.length * 8; bit++) {
            masked[bit >>> 3] &= (byte) ~(0x80 >>> (bit & 7));
        }
        return NetUtil.bytesToIpAddress(masked) + '/' + prefixBits;
    }

    /** Whether the bytes are an IPv4 address in IPv6 form, ::ffff:a.b.c.d; addresses of clients never have this form. */
    private static boolean isMapped(byte[] bytes) {
        return bytes.length == 16 && Arrays.equals(bytes, 0, MAPPED.length, MAPPED, 0, MAPPED.length);
    }

    private static int prefix(String text, int start) {
        int bits = 0;
        for (int i = start; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < '0' || c > '9' || i - start > 2) {
                return -1;
            }
            bits = bits * 10 + c - '0';
        }
        return start < text.length() ? bits : -1;
    }
}
