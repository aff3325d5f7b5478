// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.relay;

import io.netty.util.NetUtil;
import io.smqtt.spi.ClusterStatus;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A node that takes clients of front nodes.
 *
 * @param nodeId its name
 * @param epoch its run
 * @param address where it takes them
 */
record RelayTarget(String nodeId, long epoch, InetSocketAddress address) {

    private static final long FNV_OFFSET = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    /** The nodes that are reachable and take clients. */
    static List<RelayTarget> of(List<ClusterStatus.PeerStatus> peers) {
        List<RelayTarget> targets = new ArrayList<>();
        for (ClusterStatus.PeerStatus peer : peers) {
            InetSocketAddress address = peer.reachable() ? parse(peer.node().relay()) : null;
            if (address != null) {
                targets.add(new RelayTarget(peer.node().nodeId(), peer.node().epoch(), address));
            }
        }
        return targets;
    }

    /** Reads an address and a port; null for a host name, which an event loop must not look up. */
    static @Nullable InetSocketAddress parse(String text) {
        int colon = text.lastIndexOf(':');
        if (colon <= 0) {
            return null;
        }
        byte[] address = NetUtil.createByteArrayFromIpAddressString(text.substring(0, colon));
        try {
            return address == null
                    ? null
                    : new InetSocketAddress(
                            InetAddress.getByAddress(address), Integer.parseInt(text.substring(colon + 1)));
        } catch (UnknownHostException | IllegalArgumentException e) {
            return null;
        }
    }

    /**
     * The order in which nodes are tried for a client, by rendezvous hashing: all front nodes come to the same one, and when a node comes or goes
     * only the clients of that node have another one.
     */
    static List<RelayTarget> order(List<RelayTarget> targets, String clientId) {
        List<RelayTarget> ordered = new ArrayList<>(targets);
        ordered.sort(Comparator.comparingLong((RelayTarget target) -> score(target.nodeId, clientId))
                .reversed()
                .thenComparing(RelayTarget::nodeId));
        return ordered;
    }

    private static long score(String nodeId, String clientId) {
        long hash = FNV_OFFSET;
        for (byte next : (nodeId + '/' + clientId).getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (next & 0xFF)) * FNV_PRIME;
        }
        hash ^= hash >>> 33;
        hash *= 0xff51afd7ed558ccdL;
        hash ^= hash >>> 33;
        hash *= 0xc4ceb9fe1a85ec53L;
        return hash ^ hash >>> 33;
    }
}
