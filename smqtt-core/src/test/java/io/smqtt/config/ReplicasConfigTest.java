// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReplicasConfigTest {

    private final Map<String, String> settings = new LinkedHashMap<>(Map.of(
            "storage.kind", "rocksdb",
            "storage.replicas", "3",
            "cluster.enabled", "true",
            "cluster.node-id", "a",
            "cluster.secret", "0123456789abcdef",
            "cluster.nodes", "a=10.0.0.1:7801,b=10.0.0.2:7801,c=node-c:7801"));

    private BrokerConfig bind() {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        settings.forEach((key, value) -> values.put(key, new ConfigValue(value, "test:" + key, Path.of(""))));
        return ConfigBinder.bind(BrokerConfig.defaults(), values);
    }

    private void assertRefused(String key, String value, String problem) {
        if (value.isEmpty()) {
            settings.remove(key);
        } else {
            settings.put(key, value);
        }
        assertThatThrownBy(this::bind)
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(problem)
                .hasMessageContaining("test:");
    }

    @Test
    void threeNodesWithThreeReplicas() {
        BrokerConfig config = bind();

        assertThat(config.cluster().replicaNodes())
                .isEqualTo(Map.of("a", "10.0.0.1:7801", "b", "10.0.0.2:7801", "c", "node-c:7801"));
        assertThat(config.requiredModules()).containsEntry("storage.replicas", "smqtt-replication");
    }

    @Test
    void anEvenNumberIsRefused() {
        assertRefused("storage.replicas", "2", "storage.replicas must be 1, 3 or 5, not 2");
    }

    @Test
    void moreReplicasThanNodesAreRefused() {
        assertRefused("storage.replicas", "5", "storage.replicas is 5, but cluster.nodes has only 3: a, b, c");
    }

    @Test
    void aStoreInMemoryIsRefused() {
        assertRefused("storage.kind", "memory", "storage.replicas needs storage.kind rocksdb");
    }

    @Test
    void aBrokerWithoutAClusterIsRefused() {
        assertRefused("cluster.enabled", "false", "storage.replicas needs cluster.enabled true");
    }

    @Test
    void aNodeWithoutANameIsRefused() {
        assertRefused("cluster.node-id", "", "storage.replicas needs cluster.node-id");
    }

    @Test
    void aNodeThatIsNotAmongTheNodesIsRefused() {
        assertRefused("cluster.node-id", "d", "cluster.node-id is d, which is not in cluster.nodes: a, b, c");
    }

    @Test
    void missingNodesAreRefused() {
        assertRefused("cluster.nodes", "", "storage.replicas needs cluster.nodes");
    }

    @Test
    void nodesWithoutASecretAreRefused() {
        assertRefused("cluster.secret", "", "storage.replicas needs cluster.secret or cluster.tls");
    }

    @Test
    void nodesAreNamedOnceAndHaveAddresses() {
        assertRefused("cluster.nodes", "a=h:1,a=h:2,c=h:3", "cluster.nodes has the node a twice");
        assertRefused("cluster.nodes", "a=h:1,b=h:1,c=h:3", "cluster.nodes has the address h:1 twice");
        assertRefused("cluster.nodes", "a,b,c", "cluster.nodes must have entries such as a=10.0.0.1:7801, not a");
        assertRefused("cluster.nodes", "a=127.0.0.1:7800,b=h:1,c=h:2", "cluster.nodes has the port of cluster.bind");
    }

    @Test
    void aNodeInThePlaceOfALostOneHasTheNameOfBoth() {
        settings.put("cluster.nodes", "a=10.0.0.1:7801,b=10.0.0.2:7801,c/d=node-d:7801");
        settings.put("cluster.node-id", "d");
        ClusterConfig cluster = bind().cluster();

        assertThat(cluster.place()).isEqualTo("c");
        assertThat(cluster.isReplicaNode()).isTrue();
        assertThat(cluster.replicaNames()).containsExactly("a", "b", "c/d");
        assertThat(cluster.replicaNodes())
                .isEqualTo(Map.of("a", "10.0.0.1:7801", "b", "10.0.0.2:7801", "c", "node-d:7801"));
        assertRefused("cluster.node-id", "c", "cluster.node-id is c, which is not in cluster.nodes: a, b, c/d");
        assertRefused("cluster.nodes", "a=h:1,b=h:2,c/b=h:3", "cluster.nodes has the node b twice");
        assertRefused("cluster.nodes", "a=h:1,b=h:2,c/=h:3", "cluster.nodes must have 1 to 64 characters");
    }

    @Test
    void anotherNodeHasThePlaceWithItsName() {
        ClusterConfig cluster = bind().cluster();

        assertThat(cluster.place()).isEqualTo("a");
        assertThat(ClusterConfig.builder().nodeId("x").build().place()).isEqualTo("x");
        assertThat(ClusterConfig.defaults().place()).isNull();
    }
}
