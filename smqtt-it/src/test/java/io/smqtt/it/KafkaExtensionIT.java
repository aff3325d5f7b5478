// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The extension for Kafka as it is delivered, without a Kafka: its classes are found, and a cluster that is away disturbs nobody. */
class KafkaExtensionIT {

    @TempDir
    Path directory;

    @Test
    void brokerServesWhileKafkaIsAway() throws Exception {
        Path file = Files.writeString(directory.resolve("test.yaml"), """
                management:
                  enabled: false
                access:
                  allow-anonymous: loopback
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: 0
                  ws:
                    enabled: false
                storage:
                  kind: memory
                rules:
                  forward:
                    sql: SELECT * FROM "in/#"
                    actions:
                      kafka:
                        type: kafka
                        bootstrap-servers: 127.0.0.1:%1$d
                        topic: rows
                        max-block: 100ms
                sources:
                  orders:
                    type: kafka
                    bootstrap-servers: 127.0.0.1:%1$d
                    topics: orders
                    group-id: smqtt
                    topic: orders
                """.formatted(LoopbackPorts.one()));
        try (BrokerProcess broker = BrokerProcess.start(Extensions.command("smqtt-sink-kafka", directory, file));
                RawClient client = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                RawClient publisher = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            client.connect("client");
            publisher.connect("publisher");
            client.subscribe("in/#", 1);
            publisher.publish("in/1", "one", 1);
            client.expectPublish("in/1", "one");
            assertThat(broker.awaitLine("rule forward/kafka: the sink fails")).contains("rows not present in metadata");
            publisher.publish("in/2", "two", 1);
            client.expectPublish("in/2", "two");
            broker.terminate();
            assertThat(broker.awaitExit(Duration.ofSeconds(30))).isZero();
        }
    }
}
