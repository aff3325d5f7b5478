// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jgroups.protocols.DISCARD;
import org.jgroups.protocols.FD_ALL3;
import org.jgroups.protocols.FRAG4;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.MFC;
import org.jgroups.protocols.TCP;
import org.jgroups.protocols.TCPPING;
import org.jgroups.protocols.UFC;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.stack.Protocol;

/** A channel over TCP on the loopback interface. */
final class TestStack {

    /** Those of other tests, which may not be bound yet. */
    private static final Set<Integer> TAKEN = ConcurrentHashMap.newKeySet();

    private TestStack() {}

    /** The ports of the members, which are free now. */
    static Map<String, Integer> ports(Set<String> names) {
        Map<String, Integer> ports = new TreeMap<>();
        List<ServerSocket> sockets = new ArrayList<>();
        try {
            for (String name : names) {
                ServerSocket socket;
                do {
                    socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                    sockets.add(socket);
                } while (!TAKEN.add(socket.getLocalPort()));
                ports.put(name, socket.getLocalPort());
            }
            for (ServerSocket socket : sockets) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return ports;
    }

    /** The protocols below those of groups. */
    static List<Protocol> reliable(String name, Map<String, Integer> ports, DISCARD discard) throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        TCP tcp = new TCP();
        tcp.setBindAddress(loopback).setBindPort(ports.get(name)).setPortRange(0);
        TCPPING discovery = new TCPPING();
        discovery.setInitialHosts(ports.values().stream()
                .map(port -> new InetSocketAddress(loopback, port))
                .toList());
        discovery.setPortRange(0);
        GMS gms = new GMS().setJoinTimeout(ports.size() == 1 ? 20 : 500);
        gms.printLocalAddress(false);
        return List.of(
                tcp,
                discard,
                discovery,
                new MERGE3().setMinInterval(200).setMaxInterval(400).setCheckInterval(800),
                new FD_ALL3().setTimeout(3_000).setInterval(500),
                new VERIFY_SUSPECT2().setTimeout(300),
                new NAKACK2().useMcastXmit(false),
                new UNICAST3(),
                new STABLE(),
                gms,
                new UFC(),
                new MFC(),
                new FRAG4().setFragSize(60_000));
    }
}
