// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.spi.BridgeDrop;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.spi.Bridges;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** One bridge, {@code cloud}, with two connections, the first in a state that a test sets. */
final class SampleBridges implements Bridges {

    private volatile BridgeStatus.State state = BridgeStatus.State.CONNECTED;

    private SampleBridges() {}

    static SampleBridges one() {
        return new SampleBridges();
    }

    void become(BridgeStatus.State next) {
        state = next;
    }

    @Override
    public List<BridgeStatus> status() {
        return List.of(status("cloud", state, 6), status("cloud.2", BridgeStatus.State.CONNECTED, 9));
    }

    private static BridgeStatus status(String name, BridgeStatus.State state, long sent) {
        return new BridgeStatus(
                name,
                state,
                "cloud.example.com:1883",
                Instant.EPOCH,
                "it has closed the connection",
                7,
                sent,
                5,
                4,
                Map.of(BridgeDrop.QUEUE, 2L, BridgeDrop.RATE, 1L),
                Map.of(BridgeDrop.TOPIC, 8L),
                2,
                2_000_000);
    }

    @Override
    public boolean operate(String name, Operation operation) {
        return false;
    }
}
