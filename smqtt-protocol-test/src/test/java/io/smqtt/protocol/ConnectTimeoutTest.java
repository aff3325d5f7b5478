// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.Authentication;
import io.smqtt.test.RawClient;
import io.smqtt.test.TestBroker;
import io.smqtt.test.packet.ConnectBytes;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Sinks;

@DisplayName("The time that a client has for its CONNECT")
class ConnectTimeoutTest {

    @Test
    @DisplayName("ends with its CONNECT: how long an authenticator takes is not held against it")
    void aSlowAuthenticatorIsNotTheClientsFault() {
        Sinks.One<Authentication> answer = Sinks.one();
        AtomicInteger asked = new AtomicInteger();
        try (TestBroker broker = TestBroker.builder()
                        .property("listeners.mqtt.connect-timeout", "1s")
                        .parts(parts -> parts.authenticator(request -> {
                            asked.incrementAndGet();
                            return answer.asMono();
                        }))
                        .start();
                RawClient waiting = broker.open(ProtocolVersion.MQTT_5)) {
            waiting.send(ConnectBytes.of("waiting"));
            await().atMost(Duration.ofSeconds(30)).until(() -> asked.get() == 1);
            try (RawClient silent = broker.open(ProtocolVersion.MQTT_5)) {
                silent.expectClosed(); // a later deadline has passed
            }
            answer.tryEmitValue(Authentication.accepted("user"));

            assertThat(waiting.expect(MqttMessageType.CONNACK).reasonCode()).isZero();
        }
    }
}
