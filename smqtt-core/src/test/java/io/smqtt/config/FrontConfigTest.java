// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The configuration of front nodes, and of nodes that take their clients. */
class FrontConfigTest {

    private static final String SECRET = "0123456789abcdef";

    private static ClusterConfigBuilder front() {
        return ClusterConfig.builder()
                .enabled(true)
                .nodeId("front")
                .secret(SECRET)
                .role(ClusterConfig.Role.FRONT);
    }

    private static RelayConfig relay(String bind) {
        return RelayConfig.builder().bind(bind).build();
    }

    @Test
    void aFrontNodeNeedsAClusterWithProofs() {
        assertThatCode(() -> front().build()).doesNotThrowAnyException();
        assertThatThrownBy(() -> front().enabled(false).build())
                .isInstanceOf(ConfigurationException.class)
                .hasMessage("cluster.role is front, which needs cluster.enabled true");
        assertThatThrownBy(() -> front().secret(null).build())
                .hasMessageStartingWith("cluster.role is front, which needs cluster.secret or cluster.tls");
    }

    @Test
    void aFrontNodeHoldsNothing() {
        assertThatThrownBy(() -> BrokerConfig.builder()
                        .cluster(front().build())
                        .storage(StorageConfig.builder()
                                .kind(StorageConfig.Kind.ROCKSDB)
                                .build())
                        .build())
                .hasMessageStartingWith("storage.kind is rocksdb, but cluster.role is front");
        assertThatThrownBy(() -> BrokerConfig.builder()
                        .cluster(front().build())
                        .storage(StorageConfig.builder()
                                .kind(StorageConfig.Kind.ROCKSDB)
                                .replicas(3)
                                .build())
                        .build())
                .hasMessageStartingWith("storage.replicas is 3, but cluster.role is front");
        assertThatThrownBy(() -> front().nodes(List.of("a=h:1", "front=h:2")).build())
                .hasMessageStartingWith("cluster.nodes has this node, front, whose cluster.role is front");
        assertThatCode(() -> front().nodes(List.of("a=h:1", "b=h:2")).build()).doesNotThrowAnyException();
        assertThatThrownBy(() -> front().relay(relay("10.0.0.1:7802")).build())
                .hasMessageStartingWith("cluster.relay.bind is for full nodes");
    }

    @Test
    void thePortForFrontNodesNeedsProofsAndIsOneOfItsOwn() {
        ClusterConfigBuilder node = ClusterConfig.builder()
                .nodeId("a")
                .bind("10.0.0.1:7800")
                .nodes(List.of("a=10.0.0.1:7801"))
                .secret(SECRET);

        assertThat(node.relay(relay("10.0.0.1:7802")).build().relay().bind()).isEqualTo("10.0.0.1:7802");
        assertThatThrownBy(() -> node.relay(relay("10.0.0.1:7800")).build())
                .hasMessageStartingWith("cluster.relay.bind has the port of cluster.bind");
        assertThatThrownBy(() -> node.relay(relay("10.0.0.1:7801")).build())
                .hasMessageStartingWith("cluster.relay.bind has the port of this node in cluster.nodes");
        assertThatThrownBy(() -> node.relay(relay("10.0.0.1:7802")).secret(null).build())
                .hasMessageStartingWith("cluster.relay.bind needs cluster.secret or cluster.tls");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0:7802", "[::]:7802", "10.0.0.1", "10.0.0.1:0"})
    void frontNodesMustBeAbleToReachIt(String bind) {
        assertThatThrownBy(() -> relay(bind))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("cluster.relay.bind");
    }
}
