// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.jgroups.Address;
import org.jgroups.protocols.dns.DNSResolver;
import org.jgroups.stack.IpAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Resolves names as other Java programs on this machine do (hosts file, search domains, caches), at each discovery. All nodes have the
 * same port.
 */
final class HostNames implements DNSResolver {

    private static final Logger LOG = LoggerFactory.getLogger(HostNames.class);

    private final Lookup lookup;
    private final int port;

    /**
     * Creates a resolver.
     *
     * @param lookup finds the addresses of a name
     * @param port the port of all nodes
     */
    HostNames(Lookup lookup, int port) {
        this.lookup = lookup;
        this.port = port;
    }

    /** Finds the addresses of a name; blocks. */
    @FunctionalInterface
    interface Lookup {

        InetAddress[] all(String name) throws UnknownHostException;
    }

    @Override
    public List<Address> resolveIps(String names, DNSRecordType type) {
        List<Address> found = new ArrayList<>();
        for (String name : names.split(",", -1)) {
            try {
                for (InetAddress address : lookup.all(name.trim())) {
                    found.add(new IpAddress(address, port));
                }
            } catch (UnknownHostException e) { // for example while the first node starts
                LOG.debug("there is no host {}", name);
            }
        }
        return found;
    }
}
