// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** Normalizes addresses for comparison. */
final class ClientAddresses {

    private ClientAddresses() {}

    /** Converts an IPv4-mapped IPv6 address to IPv4. */
    static InetSocketAddress unmapped(InetSocketAddress address) {
        if (address.getAddress() instanceof Inet6Address inet6) {
            InetAddress plain = fromBytes(inet6.getAddress()); // turns ::ffff:a.b.c.d into a.b.c.d
            if (!(plain instanceof Inet6Address)) {
                return new InetSocketAddress(plain, address.getPort());
            }
        }
        return address;
    }

    private static InetAddress fromBytes(byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("not the length of an address: " + bytes.length, e);
        }
    }
}
