// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.ReloadResult;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ClusterConfigBuilder;
import io.smqtt.spi.ClusterTransport;
import io.smqtt.spi.ClusterTransport.Refusal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;

/** A real transport on this machine, and what its handler was told. */
final class TransportNode implements ClusterTransport.Handler, AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    final Set<ClusterTransport.Peer> peers = ConcurrentHashMap.newKeySet();
    final List<String> frames = new CopyOnWriteArrayList<>();
    final List<Refusal> refused = new CopyOnWriteArrayList<>();
    private final JGroupsTransport transport;

    TransportNode(String nodeId, String bind, HostNames.Lookup lookup) {
        ClusterConfig config = ClusterConfig.builder()
                .enabled(true)
                .bind(bind)
                .discovery(ClusterConfig.Discovery.DNS)
                .seeds(List.of("nodes.example"))
                .build();
        transport = new JGroupsTransport(config, nodeId, lookup);
        transport.start(this).block(PATIENCE);
    }

    TransportNode(String nodeId, int port, List<Integer> seeds, UnaryOperator<ClusterConfigBuilder> more) {
        ClusterConfigBuilder config = ClusterConfig.builder()
                .enabled(true)
                .bind("127.0.0.1:" + port)
                .seeds(seeds.stream().map(seed -> "127.0.0.1:" + seed).toList());
        transport = new JGroupsTransport(more.apply(config).build(), nodeId);
        transport.start(this).block(PATIENCE);
    }

    ReloadResult reload() {
        return transport.reload();
    }

    void sendToAll(String text) {
        byte[] frame = text.getBytes(StandardCharsets.UTF_8);
        peers.forEach(peer -> transport.send(peer, frame, true));
    }

    @Override
    public void up(ClusterTransport.Peer peer) {
        peers.add(peer);
    }

    @Override
    public void down(ClusterTransport.Peer peer) {
        peers.remove(peer);
    }

    @Override
    public void received(ClusterTransport.Peer from, byte[] frame) {
        frames.add(new String(frame, StandardCharsets.UTF_8));
    }

    @Override
    public void refused(Refusal reason) {
        refused.add(reason);
    }

    @Override
    public void close() {
        transport.stop().block(PATIENCE);
    }
}
