// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.LimitsConfig;
import io.smqtt.config.ManagementConfigBuilder;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What goes over the wire, and what waits or is given up because somebody is gone or slow. */
class TrafficTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final UnaryOperator<ManagementConfigBuilder> QUIET =
            management -> management.sysInterval(Duration.ZERO);

    @Test
    void everyPacketAndEveryByteIsCounted() throws Exception {
        try (ObservedBroker broker = new ObservedBroker()) {
            RawClient client = broker.open(ProtocolVersion.MQTT_3_1_1);
            byte[] connect = ConnectBytes.of("c").toBytes(ProtocolVersion.MQTT_3_1_1);
            byte[] publish =
                    PublishBytes.to("a").payload("0123456789").qos(1, 7).toBytes(ProtocolVersion.MQTT_3_1_1);
            client.connect(ConnectBytes.of("c")); // answered with 4 bytes
            client.send(publish); // 4
            client.receive();
            client.ping(); // 2 each
            client.send((byte) 0xC0); // half a packet

            long received = connect.length + publish.length + 2 + 1;
            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(broker.scraped("smqtt_traffic_received_bytes_total")).isEqualTo(received);
                assertThat(broker.scraped("smqtt_traffic_sent_bytes_total")).isEqualTo(4 + 4 + 2);
                assertThat(broker.scraped("smqtt_packets_received_total")).isEqualTo(3);
                assertThat(broker.scraped("smqtt_packets_sent_total")).isEqualTo(3);
            });
        }
    }

    @Test
    void aMessageThatIsSentByReferenceIsOnePacketWithAllItsBytes() throws Exception {
        try (ObservedBroker broker = new ObservedBroker()) {
            RawClient client = broker.open(ProtocolVersion.MQTT_3_1_1);
            client.connect(ConnectBytes.of("c"));
            client.subscribe("large", 0);
            byte[] publish = PublishBytes.to("large").payload(new byte[100_000]).toBytes(ProtocolVersion.MQTT_3_1_1);
            double before = broker.scraped("smqtt_traffic_sent_bytes_total");
            client.send(publish);
            client.receive();

            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(broker.scraped("smqtt_traffic_sent_bytes_total") - before)
                        .isEqualTo(publish.length);
                assertThat(broker.scraped("smqtt_packets_sent_total")).isEqualTo(3);
            });
        }
    }

    @Tag("slow")
    @Test
    void aWillThatIsDelayedIsSeenWhileItWaits() throws Exception {
        try (ObservedBroker broker = new ObservedBroker()) {
            PublishBytes will = PublishBytes.to("will").payload("gone");
            will.properties().willDelay(600);
            RawClient victim = broker.open(ProtocolVersion.MQTT_5);
            victim.connect(ConnectBytes.of("victim").persistent(3_600).will(will));
            assertThat(broker.scraped("smqtt_wills_waiting")).isZero();
            victim.abort();
            await().atMost(PATIENCE)
                    .untilAsserted(() ->
                            assertThat(broker.scraped("smqtt_wills_waiting")).isEqualTo(1));

            broker.client("victim"); // it is back
            await().atMost(PATIENCE)
                    .untilAsserted(() ->
                            assertThat(broker.scraped("smqtt_wills_waiting")).isZero());
        }
    }

    @Test
    void whatWaitsForSomebodyWhoIsAwayTakesBytes() throws Exception {
        try (ObservedBroker broker = new ObservedBroker()) {
            RawClient away = broker.open(ProtocolVersion.MQTT_5);
            away.connect(ConnectBytes.of("away").persistent(3_600));
            away.subscribe("a", 1);
            away.disconnect();
            assertThat(broker.scraped("smqtt_queue_memory_bytes")).isZero();
            broker.client("publisher").publish("a", "x".repeat(1_000), 1);

            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(broker.scraped("smqtt_queue_memory_bytes")).isBetween(1_000.0, 2_000.0);
                assertThat(broker.scraped("smqtt_queue_size_bytes")).isBetween(1_000.0, 2_000.0);
            });
        }
    }

    @Test
    void aClientThatReadsTooSlowlyIsCountedAsSuch() throws Exception {
        LimitsConfig limits = LimitsConfig.builder()
                .slowConsumerTimeout(Duration.ofSeconds(1))
                .build();
        try (ObservedBroker broker = new ObservedBroker(config -> config.limits(limits), QUIET)) {
            RawClient sleeper = broker.client("sleeper");
            sleeper.subscribe("much", 0);
            RawClient publisher = broker.client("publisher");
            assertThat(broker.scraped("smqtt_clients_slow_total", "listener=\"tcp\""))
                    .isZero();
            byte[] megabyte = PublishBytes.to("much").payload(new byte[900_000]).toBytes(ProtocolVersion.MQTT_5);

            await().atMost(PATIENCE).untilAsserted(() -> {
                publisher.send(megabyte); // until no socket takes more
                assertThat(broker.scraped("smqtt_clients_slow_total", "listener=\"tcp\""))
                        .isEqualTo(1);
            });
        }
    }
}
