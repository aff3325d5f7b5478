// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.BrokerFigures;
import io.smqtt.spi.DropReason;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What came about is delivered, dropped for a reason, or waits; nothing is silent. */
class AccountTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Test
    void whatMatchesIsDeliveredQueuedOrDropped() throws Exception {
        try (ObservedBroker broker = new ObservedBroker()) {
            RawClient all = broker.client("all");
            all.subscribe("a/#", 1);
            RawClient one = broker.client("one");
            one.subscribe("a/+", 0);
            RawClient away = broker.open(ProtocolVersion.MQTT_3_1_1);
            away.connect(ConnectBytes.of("away").cleanStart(false));
            away.subscribe("a/b", 1);
            away.disconnect();
            RawClient publisher = broker.client("publisher");

            for (int i = 0; i < 20; i++) {
                publisher.publish("a/b", "payload " + i, i % 3);
            }
            publisher.publish("nobody/listens", "x", 1);
            publisher.publish(PublishBytes.to("a/kept").payload("kept").retained());
            RawClient late = broker.client("late");
            late.subscribe("a/kept", 0);
            late.expectPublish("a/kept", "kept");

            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(broker.scraped("smqtt_messages_received_total")).isEqualTo(22);
                assertThat(broker.scraped("smqtt_messages_unmatched_total")).isEqualTo(1);
                assertThat(broker.scraped("smqtt_messages_matched_total", "source=\"publish\""))
                        .isEqualTo(20 * 3 + 2);
                assertThat(broker.scraped("smqtt_messages_matched_total", "source=\"retained\""))
                        .isEqualTo(1);
                double matched = broker.scraped("smqtt_messages_matched_total");
                double delivered = broker.scraped("smqtt_messages_delivered_total");
                double dropped = broker.scraped("smqtt_messages_dropped_total");
                double waiting = broker.scraped("smqtt_messages_waiting");
                assertThat(waiting).isPositive();
                assertThat(dropped).isPositive(); // QoS 0 for the client that is away
                assertThat(delivered + dropped + waiting).isEqualTo(matched);
                assertThat(broker.scraped("smqtt_messages_pending")).isEqualTo(waiting);
                BrokerFigures figures = broker.module.figures();
                assertThat(figures.received()).isEqualTo(22);
                assertThat(figures.delivered()).isEqualTo((long) delivered);
                assertThat(figures.droppedInAll()).isEqualTo((long) dropped);
                assertThat(figures.dropped().get(DropReason.OFFLINE)).isEqualTo((long) dropped);
                assertThat(figures.online()).isEqualTo(4);
                assertThat(figures.sessions()).isEqualTo(5);
                assertThat(figures.subscriptions()).isEqualTo(4);
                assertThat(figures.retained()).isEqualTo(1);
            });
        }
    }

    @Test
    void whatASessionTakesWithItIsDropped() throws Exception {
        try (ObservedBroker broker = new ObservedBroker()) {
            RawClient away = broker.open(ProtocolVersion.MQTT_3_1_1);
            away.connect(ConnectBytes.of("away").cleanStart(false));
            away.subscribe("t", 1);
            away.disconnect();
            RawClient publisher = broker.client("publisher");
            for (int i = 0; i < 7; i++) {
                publisher.publish("t", "x", 1);
            }
            broker.open(ProtocolVersion.MQTT_3_1_1)
                    .connect(ConnectBytes.of("away").cleanStart(true));

            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(broker.scraped("smqtt_messages_dropped_total", "reason=\"session_ended\""))
                        .isEqualTo(7);
                assertThat(broker.scraped("smqtt_messages_pending")).isZero();
            });
        }
    }

    @Test
    void connectionsSessionsAndTheirEndsAreCounted() throws Exception {
        try (ObservedBroker broker = new ObservedBroker()) {
            broker.client("twice");
            RawClient second = broker.client("twice");
            RawClient old = broker.open(ProtocolVersion.MQTT_3_1_1);
            old.connect("old");
            second.subscribe("$share/group/x", 1);

            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(broker.scraped("smqtt_clients_online", "protocol=\"5.0\""))
                        .isEqualTo(1);
                assertThat(broker.scraped("smqtt_clients_online", "protocol=\"3.1.1\""))
                        .isEqualTo(1);
                assertThat(broker.scraped("smqtt_connections_opened_total", "listener=\"tcp\""))
                        .isEqualTo(3);
                assertThat(broker.scraped("smqtt_connections_active")).isEqualTo(2);
                assertThat(broker.scraped("smqtt_connections_closed_total", "reason=\"session_taken_over\""))
                        .isEqualTo(1);
                assertThat(broker.scraped("smqtt_sessions_takeovers_total")).isEqualTo(1);
                assertThat(broker.scraped("smqtt_sessions_active")).isEqualTo(2);
                assertThat(broker.scraped("smqtt_subscriptions_active")).isEqualTo(1);
                assertThat(broker.scraped("smqtt_subscriptions_groups")).isEqualTo(1);
                assertThat(broker.scraped("smqtt_authentications_total", "outcome=\"accepted\""))
                        .isEqualTo(3);
            });
        }
    }

    @Test
    void noTagHoldsWhatAClientChose() throws Exception {
        try (ObservedBroker broker = new ObservedBroker()) {
            RawClient client = broker.client("chosen-id");
            client.subscribe("chosen/filter", 1);
            broker.client("chosen-too").publish("chosen/filter", "chosen-payload", 0);
            client.expectPublish("chosen/filter", "chosen-payload");

            assertThat(broker.module.scrape()).doesNotContain("chosen");
        }
    }
}
