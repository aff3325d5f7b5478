// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.jgroups.Address;
import org.jgroups.protocols.dns.DNSResolver;
import org.jgroups.stack.IpAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Resolves {@code host:port} of each node at each discovery: a node may get its name later than others start, or another address when it is
 * started again.
 */
final class NodeAddresses implements DNSResolver {

    private static final Logger LOG = LoggerFactory.getLogger(NodeAddresses.class);

    private final HostNames.Lookup lookup;

    NodeAddresses(HostNames.Lookup lookup) {
        this.lookup = lookup;
    }

    @Override
    public List<Address> resolveIps(String nodes, DNSRecordType type) {
        List<Address> found = new ArrayList<>();
        for (String node : nodes.split(",", -1)) {
            try {
                for (InetAddress address : lookup.all(JGroupsStack.host(node))) {
                    found.add(new IpAddress(address, JGroupsStack.port(node)));
                }
            } catch (UnknownHostException e) { // it has not been started yet
                LOG.debug("node {} has no address", node);
            }
        }
        return found;
    }

    /**
     * The address to bind to. Blocks while a name is looked up.
     *
     * @param node {@code host:port} of this node, where others reach it
     * @param bind {@code host:port} of this node for the cluster's channel, which is used as long as the name of the node has no address of this
     *     machine: that of a pod that has just been started is unknown, or still that of its predecessor
     */
    InetAddress own(String node, String bind) throws IOException {
        String host = JGroupsStack.host(node);
        if (NetUtil.isValidIpV4Address(host) || NetUtil.isValidIpV6Address(host)) {
            return InetAddress.getByName(host);
        }
        try {
            for (InetAddress address : lookup.all(host)) {
                if (NetworkInterface.getByInetAddress(address) != null) {
                    return address;
                }
            }
        } catch (UnknownHostException e) {
            LOG.debug("node {} has no address yet", node);
        }
        return lookup.all(JGroupsStack.host(bind))[0];
    }
}
