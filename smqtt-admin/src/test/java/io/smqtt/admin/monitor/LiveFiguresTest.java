// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.monitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.Map;
import org.junit.jupiter.api.Test;

class LiveFiguresTest {

    @Test
    void figuresAreReadOnceASecondHoweverManyAsk() {
        LiveFigures live = new LiveFigures(new Monitor());
        Map<String, Object> first = live.fields();

        assertThat(first).containsKeys("received_msg_rate", "live_connections", "dropped_by_reason");
        assertThat(live.fields()).isSameAs(first);
        await().until(() -> live.fields() != first);
    }
}
