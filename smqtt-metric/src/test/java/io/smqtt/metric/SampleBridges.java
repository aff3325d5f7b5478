// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.spi.BridgeStatus;
import io.smqtt.spi.Bridges;
import java.time.Instant;
import java.util.List;

/** One bridge, {@code cloud}, in a state that a test sets. */
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
        return List.of(new BridgeStatus(
                "cloud",
                state,
                "cloud.example.com:1883",
                Instant.EPOCH,
                "it has closed the connection",
                7,
                6,
                5,
                4,
                3,
                2,
                2_000_000));
    }

    @Override
    public boolean operate(String name, Operation operation) {
        return false;
    }
}
