// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.smqtt.spi.Alarm;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.spi.SampleCluster;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class BridgeMetersTest {

    private static final String TAG = "bridge=\"cloud\"";

    @Test
    void whatABridgeDoesIsSeenInMetersHealthAndAlarms() {
        SampleBridges bridges = SampleBridges.one();
        try (ObservedBroker broker = ObservedBroker.in(SampleCluster.three(), bridges)) {
            AlarmChecks checks = new AlarmChecks(
                    broker.core(), new BrokerMeters(new SimpleMeterRegistry(), Set.of("tcp"), null), List.of());

            assertThat(broker.scraped("smqtt_bridge_connected", TAG)).isEqualTo(1);
            assertThat(broker.scraped("smqtt_bridge_queued", TAG)).isEqualTo(7);
            assertThat(broker.scraped("smqtt_bridge_sent_total", TAG)).isEqualTo(6);
            assertThat(broker.scraped("smqtt_bridge_sent_total", "bridge=\"cloud.2\""))
                    .as("another connection")
                    .isEqualTo(9);
            assertThat(broker.scraped("smqtt_bridge_received_total", TAG)).isEqualTo(5);
            assertThat(broker.scraped("smqtt_bridge_resent_total", TAG)).isEqualTo(4);
            assertThat(broker.scraped("smqtt_bridge_dropped_total", TAG, "reason=\"queue\""))
                    .isEqualTo(2);
            assertThat(broker.scraped("smqtt_bridge_dropped_total", TAG, "reason=\"rate\""))
                    .isEqualTo(1);
            assertThat(broker.scraped("smqtt_bridge_dropped_total", TAG, "reason=\"loop\""))
                    .isZero();
            assertThat(broker.scraped("smqtt_bridge_received_dropped_total", TAG, "reason=\"topic\""))
                    .isEqualTo(8);
            assertThat(broker.scraped("smqtt_bridge_refused_total", TAG)).isEqualTo(2);
            assertThat(broker.scraped("smqtt_bridge_rtt_seconds", TAG)).isEqualTo(0.002);
            assertThat(broker.module.ready().checks()).containsEntry("bridge-cloud", "connected");
            assertThat(checks.check(Instant.now())).doesNotContainKey("bridge_down/cloud");

            bridges.become(BridgeStatus.State.DISCONNECTED);

            assertThat(broker.scraped("smqtt_bridge_connected", TAG)).isZero();
            assertThat(broker.module.ready().checks()).containsEntry("bridge-cloud", "disconnected");
            assertThat(checks.check(Instant.now()))
                    .containsEntry(
                            "bridge_down/cloud",
                            new Alarms.Condition(
                                    Alarm.Severity.CRITICAL,
                                    "bridges.cloud is not connected to cloud.example.com:1883 since"
                                            + " 1970-01-01T00:00:00Z: it has closed the connection"));

            bridges.become(BridgeStatus.State.STOPPED);

            assertThat(checks.check(Instant.now())).doesNotContainKey("bridge_down/cloud");
        }
    }
}
