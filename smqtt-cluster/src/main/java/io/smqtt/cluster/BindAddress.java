// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/** Checks the addresses at which other nodes reach this one. */
final class BindAddress {

    private BindAddress() {}

    /**
     * Looks up the host, and so may block.
     *
     * @param key the configuration key
     * @param bind host and port
     * @param encrypted whether connections are protected by TLS
     * @param problems where problems are added, one sentence each, which begins with the key and a colon
     */
    static void check(String key, String bind, boolean encrypted, List<String> problems) {
        try {
            InetAddress address = InetAddress.getByName(bind.substring(0, bind.lastIndexOf(':')));
            if (!encrypted && !isPrivate(address)) {
                problems.add(key + ": is neither a loopback nor a private address, which takes cluster.tls");
            }
        } catch (UnknownHostException e) {
            problems.add(key + ": there is no such host: " + bind);
        }
    }

    private static boolean isPrivate(InetAddress address) {
        byte[] bytes = address.getAddress();
        boolean uniqueLocal = bytes.length == 16 && (bytes[0] & 0xFE) == 0xFC;
        return address.isLoopbackAddress()
                || address.isSiteLocalAddress()
                || address.isLinkLocalAddress()
                || uniqueLocal;
    }
}
