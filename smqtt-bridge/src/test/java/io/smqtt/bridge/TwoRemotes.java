// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.config.BridgeConfigBuilder;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/** Base of tests of a bridge with two addresses. */
abstract class TwoRemotes {

    final RemoteStub one = new RemoteStub();
    final RemoteStub two = new RemoteStub();

    @AfterEach
    void closeRemotes() {
        one.close();
        two.close();
    }

    /** A bridge to both addresses, without a limit of hops. */
    final BridgeConfigBuilder toBoth(String topic) {
        return BridgedBroker.bridge(one.address(), topic)
                .addresses(List.of(one.address(), two.address()))
                .hopLimit(0);
    }
}
