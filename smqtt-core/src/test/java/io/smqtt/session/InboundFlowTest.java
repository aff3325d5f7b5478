// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class InboundFlowTest {

    private final InboundFlow flow = new InboundFlow();

    @Test
    void remembersUntilReleased() { // [MQTT-4.3.3-10]
        assertThat(flow.isAwaitingRelease(1)).isFalse();
        flow.received(1);
        flow.received(65_535);
        flow.received(1);
        assertThat(flow.awaitingRelease()).isEqualTo(2);
        assertThat(flow.isAwaitingRelease(1)).isTrue();
        assertThat(flow.isAwaitingRelease(2)).isFalse();

        assertThat(flow.released(1)).isTrue();
        assertThat(flow.released(1)).isFalse();
        assertThat(flow.released(65_535)).isTrue();
        assertThat(flow.released(65_535)).isFalse();
        assertThat(flow.awaitingRelease()).isZero();
    }
}
