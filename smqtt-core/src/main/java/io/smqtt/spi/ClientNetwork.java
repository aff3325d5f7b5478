// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.thread.AnyThread;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;

/** The network of a client's address, for all limits per address. */
public final class ClientNetwork {

    private static final int PREFIX_BYTES = 8;
    private static final int ADDRESS_BYTES = 16;

    private ClientNetwork() {}

    /**
     * Finds the network of an address.
     *
     * @param address a client's address
     * @return the address itself; for IPv6 its /64 network, because a host with one address there can use all of them
     */
    @AnyThread
    public static InetAddress of(InetAddress address) {
        if (!(address instanceof Inet6Address) || address.isLoopbackAddress()) {
            return address;
        }
        try {
            byte[] prefix = Arrays.copyOf(address.getAddress(), PREFIX_BYTES);
            return InetAddress.getByAddress(Arrays.copyOf(prefix, ADDRESS_BYTES));
        } catch (UnknownHostException e) {
            throw new IllegalStateException("not the length of an address", e);
        }
    }
}
