// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** One in 1,024 messages of an event loop is timed: the tests publish so that it is one that they want. */
class QueueTimeTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int TIMED_EVERY = 1_024;

    private static void untilTheNextIsTimed(RawClient publisher) {
        for (int i = 1; i < TIMED_EVERY; i++) {
            publisher.publish("nobody/listens", "x", 0);
        }
    }

    @Test
    void theTimeInTheQueueIsMeasuredWhenTheClientComesBack() throws Exception {
        try (ObservedBroker broker = new ObservedBroker()) {
            RawClient away = broker.open(ProtocolVersion.MQTT_5);
            away.connect(ConnectBytes.of("subscriber").persistent(600));
            away.subscribe("t", 1);
            away.close();
            await().atMost(PATIENCE).until(() -> broker.scraped("smqtt_clients_online") == 0);
            RawClient publisher = broker.client("publisher");
            untilTheNextIsTimed(publisher);
            publisher.publish("t", "waits", 1);
            assertThat(broker.scraped("smqtt_queue_time_seconds_count")).isZero();

            RawClient back = broker.open(ProtocolVersion.MQTT_5);
            back.connect(ConnectBytes.of("subscriber").cleanStart(false).persistent(600));
            back.expectPublish("t", "waits");

            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(broker.scraped("smqtt_delivery_time_seconds_count"))
                            .isEqualTo(1));
            assertThat(broker.scraped("smqtt_queue_time_seconds_count")).isEqualTo(1);
            assertThat(broker.scraped("smqtt_queue_time_seconds_sum"))
                    .isPositive()
                    .isLessThanOrEqualTo(broker.scraped("smqtt_delivery_time_seconds_sum"));
        }
    }

    @Test
    void aMessageThatDoesNotWaitIsInNoQueue() throws Exception {
        try (ObservedBroker broker = new ObservedBroker()) {
            RawClient subscriber = broker.client("subscriber");
            subscriber.subscribe("t", 1);
            RawClient publisher = broker.client("publisher");
            untilTheNextIsTimed(publisher);

            publisher.publish("t", "at once", 1);
            subscriber.expectPublish("t", "at once");

            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(broker.scraped("smqtt_delivery_time_seconds_count"))
                            .isEqualTo(1));
            assertThat(broker.scraped("smqtt_queue_time_seconds_count")).isZero();
        }
    }
}
