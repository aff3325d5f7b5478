// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.spi.ReplicaStatus;
import io.smqtt.spi.Replicas;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The replicas of a node {@code a}, which reaches some of three nodes. */
final class SampleReplicas implements Replicas {

    private List<String> connected = List.of("a", "b", "c");
    private @Nullable String failure;
    private boolean needsRestart;

    SampleReplicas failed(String why) {
        failure = why;
        return this;
    }

    SampleReplicas reaching(String... nodes) {
        connected = List.of(nodes);
        return this;
    }

    @Override
    public ReplicaStatus own() {
        boolean serves = connected.size() > 1 && failure == null;
        return new ReplicaStatus(
                "a",
                List.of("a", "b", "c"),
                connected,
                serves ? "a" : null,
                serves,
                "a",
                true,
                7,
                100,
                serves ? 100 : 98,
                4_096,
                serves ? 0 : 2,
                3,
                0,
                0,
                0,
                serves ? Map.of("b", new ReplicaStatus.Lag(0, 0), "c", new ReplicaStatus.Lag(12, 4_000)) : Map.of(),
                failure);
    }

    @Override
    public boolean needsRestart() {
        return needsRestart;
    }

    SampleReplicas needingRestart() {
        needsRestart = true;
        return this;
    }

    @Override
    public List<ReplicaStatus> status() {
        return List.of(own());
    }
}
