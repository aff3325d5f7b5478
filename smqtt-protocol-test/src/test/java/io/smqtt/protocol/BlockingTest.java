// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.Interception;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

/** All tests of this module run under a detector of blocking calls; this one shows that it sees the broker's threads. */
class BlockingTest {

    private final AtomicReference<Throwable> seen = new AtomicReference<>();

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(
            config -> config,
            parts -> parts.interceptor((client, message) -> {
                try {
                    new CountDownLatch(1).await(1, TimeUnit.MILLISECONDS);
                } catch (Throwable e) {
                    seen.set(e);
                }
                return Mono.just(Interception.forward(message));
            }));

    @Test
    @EnabledForJreRange(max = JRE.JAVA_21)
    void anEventLoopThatBlocksIsFoundOut() {
        RawClient client = broker.client(ProtocolVersion.MQTT_5, "c");
        client.send(PublishBytes.to("a").qos(1, 1));
        client.expect(MqttMessageType.PUBACK);
        assertThat(seen.get()).isNotNull();
        assertThat(seen.get().getMessage()).contains("Blocking call!");
    }
}
