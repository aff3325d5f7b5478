// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import static io.smqtt.connection.ConnectionBench.publish;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.mqtt.MqttMessage;
import io.netty.handler.codec.mqtt.MqttMessageBuilders;
import io.netty.handler.codec.mqtt.MqttQoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** No message disappears unseen: what is not accepted, or not retained, is told to the observer. */
class RefusedMessagesTest {

    private final ConnectionBench bench = new ConnectionBench();

    @AfterEach
    void close() {
        bench.close();
    }

    @Test
    void aMessageThatItsPublisherMayNotSendIsCountedAtEveryQos() {
        bench.authorizer = request ->
                (request.action() == AccessAction.PUBLISH ? AccessDecision.DENY : AccessDecision.ALLOW).now();
        bench.open().connected();
        bench.send(publish("t", "a", 0, 0), publish("t", "b", 1, 1), publish("t", "c", 2, 2));
        assertThat(bench.answers()).containsExactly("PUBACK 1 87", "PUBREC 2 87");
        assertThat(Collections.frequency(bench.events, "message refused NOT_AUTHORIZED"))
                .isEqualTo(3);
    }

    @Test
    void aMessageThatIsTooLargeToBeRetainedIsCounted() {
        bench.open().connected();
        bench.send(retained("x".repeat(100_001), 0, 0), retained("x".repeat(100_001), 1, 1), retained("x", 1, 2));
        assertThat(bench.answers()).containsExactly("PUBACK 1 97", "PUBACK 2 10");
        assertThat(Collections.frequency(bench.events, "not retained, there are 0"))
                .isEqualTo(2);
        assertThat(Collections.frequency(bench.events, "message refused QUOTA_EXCEEDED"))
                .isEqualTo(1);
        assertThat(bench.router.retained().count()).isEqualTo(1);
    }

    private static MqttMessage retained(String text, int qos, int packetId) {
        return MqttMessageBuilders.publish()
                .topicName("t")
                .qos(MqttQoS.valueOf(qos))
                .retained(true)
                .messageId(packetId)
                .payload(Unpooled.copiedBuffer(text, StandardCharsets.UTF_8))
                .build();
    }
}
