// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.LoopbackPorts;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
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
import org.jspecify.annotations.Nullable;

/** A channel over TCP on the loopback interface. */
final class TestStack {

    /** Time after which a member that does not answer is excluded, in tests of that. */
    static final Duration SOON = Duration.ofSeconds(3);

    /** The same in tests in which all members are there; longer than a slow machine pauses. */
    static final Duration LATE = Duration.ofSeconds(10);

    private TestStack() {}

    /** The ports of the members. */
    static Map<String, Integer> ports(Set<String> names) {
        Map<String, Integer> ports = new TreeMap<>();
        names.forEach(name -> ports.put(name, LoopbackPorts.one()));
        return ports;
    }

    /** Opens a member. */
    interface Opening {
        void open(String name) throws Exception;
    }

    /** Opens members at the same time, each on a thread of its own, and waits for all. */
    static void openTogether(Executor threads, Duration patience, Opening opening, String... names) throws Exception {
        List<CompletableFuture<Void>> starts = new ArrayList<>();
        for (String name : names) {
            starts.add(CompletableFuture.runAsync(
                    () -> {
                        try {
                            opening.open(name);
                        } catch (Exception e) {
                            throw new IllegalStateException(e);
                        }
                    },
                    threads));
        }
        for (CompletableFuture<Void> start : starts) {
            start.get(patience.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /** Waits until each node serves its own store and is connected with all others: an election or another view may still follow the first one. */
    static void awaitSettled(Duration patience, Map<String, ReplicaNode> nodes) {
        await().atMost(patience)
                .untilAsserted(() -> nodes.forEach((name, node) -> assertThat(node.own())
                        .as("node %s of %s", name, nodes.keySet())
                        .satisfies(own -> {
                            assertThat(own.serves()).isTrue();
                            assertThat(own.connected()).hasSize(nodes.size());
                        })));
    }

    /** Waits until all members of a store have the same leader: an election or another view may still follow the first one. */
    static void awaitLeader(Duration patience, Map<String, ReplicatedStore> members, @Nullable String leader) {
        await().atMost(patience)
                .untilAsserted(() -> assertThat(members.values())
                        .extracting(member -> member.figures().leader())
                        .doesNotContainNull()
                        .containsOnly(
                                leader == null
                                        ? members.values()
                                                .iterator()
                                                .next()
                                                .figures()
                                                .leader()
                                        : leader));
    }

    /** The protocols below those of groups, with an early detection of failures. */
    static List<Protocol> reliable(String name, Map<String, Integer> ports, DISCARD discard) throws Exception {
        return reliable(name, ports, discard, SOON);
    }

    /** The protocols below those of groups. */
    static List<Protocol> reliable(String name, Map<String, Integer> ports, DISCARD discard, Duration detection)
            throws Exception {
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
                new FD_ALL3().setTimeout(detection.toMillis()).setInterval(500),
                new VERIFY_SUSPECT2().setTimeout(1_000),
                new NAKACK2().useMcastXmit(false),
                new UNICAST3(),
                new STABLE(),
                gms,
                new UFC(),
                new MFC(),
                new FRAG4().setFragSize(60_000));
    }
}
